"""`slipway doctor --aws`: a certificate that a load balancer would be refused is found."""

from __future__ import annotations

from typing import Final

import pytest

from slipway.account import certificates
from slipway.findings import Level
from tests.slipway.account import ready
from tests.slipway.account.fake import Answer
from tests.slipway.account.test_examination import context
from tests.support.stacks import platform_of

OTHER: Final = {"DomainName": "a.example.com", "SubjectAlternativeNames": ["a.example.com"]}


@pytest.mark.parametrize(
    ("answer", "state", "fix"),
    [
        (
            ready.refused("ResourceNotFoundException"),
            "5f6f0c3e-8a4d-4b0e-9a43-1f2d7c9b6e10 does not exist",
            "addons.kserve.certificateArn",
        ),
        ({"Certificate": {**ready.CERTIFICATE, "Status": "PENDING_VALIDATION"}}, "is PENDING_VALIDATION", "DNS"),
        ({"Certificate": {**ready.CERTIFICATE, **OTHER}}, "is for a.example.com", "*.models.example.com"),
    ],
)
def test_a_certificate_that_can_not_serve_is_found(answer: Answer, state: str, fix: str) -> None:
    (found,) = certificates.check(context(platform_of("prod"), {"acm.DescribeCertificate": answer})[0])
    assert (found.level, state in found.state, fix in found.fix) == (Level.FAILED, True, True)


def test_a_certificate_for_the_domain_is_one_line() -> None:
    (found,) = certificates.check(context(platform_of("prod"))[0])
    assert (found.level, found.state) == (Level.OK, "*.models.example.com until 2027-11-01")

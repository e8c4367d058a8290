"""Every probe is refused, or accepted with a reason that docs/security.md gives."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.adversary import cluster, independent, program, requests
from tests.adversary.probe import Request
from tests.sandbox.plane import ControlPlane

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "security.md"
REQUESTS: Final = (*requests.REQUESTS, *independent.REQUESTS)


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    with cluster.api_server(tmp_path_factory.mktemp("adversary"), REQUESTS) as plane:
        yield plane


@pytest.mark.sandbox
@pytest.mark.parametrize("probe", REQUESTS, ids=lambda probe: f"{probe.actor}: {probe.act}")
def test_a_request_is_refused_or_accepted_as_listed(plane: ControlPlane, probe: Request) -> None:
    refusal = cluster.ask(plane.client, probe, REQUESTS.index(probe))
    assert not any(part in refusal for part in cluster.MALFORMED), refusal
    assert bool(refusal) is probe.due, refusal


@pytest.mark.parametrize("act", program.CHANGES)
def test_a_change_of_the_program_is_reported(act: str) -> None:
    assert program.report(**program.CHANGES[act])


def test_an_add_on_that_the_stack_file_names_is_not_reported() -> None:
    assert program.report_of_added(*program.WORK, named=True) == set()


def test_acts_have_names_of_their_own() -> None:
    assert max(Counter((probe.actor, probe.act) for probe in REQUESTS).values()) == 1
    assert {*independent.ACCEPTED} <= {probe.act for probe in REQUESTS}


def test_accepted_acts_are_on_the_page_with_their_reason() -> None:
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    missing = [probe.act for probe in REQUESTS if probe.accepted and probe.accepted not in page]
    assert missing == [], "docs/security.md, Accepted"

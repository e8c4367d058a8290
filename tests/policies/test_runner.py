"""What a rule reports of a value that has another type than its property."""

from __future__ import annotations

from typing import Any

import pytest

from policies.fixtures import one
from policies.rules.cluster_access import NO_WORLD_ENDPOINT
from tests.policies.support import by_analyzer, checks, diagnosed, found_in


def cluster(cidrs: Any) -> dict[str, Any]:
    return {"vpcConfig": {"endpointPublicAccess": True, "publicAccessCidrs": cidrs}}


@pytest.mark.parametrize("cidrs", ["203.0.113.0/24", {"office": "203.0.113.0/24"}, 24.0, True])
def test_a_value_that_is_no_list_where_a_list_belongs_is_a_violation(cidrs: Any) -> None:
    found = found_in(NO_WORLD_ENDPOINT, one(cluster(cidrs)))
    assert checks(found) == set(NO_WORLD_ENDPOINT.checks)
    assert {finding.path for finding in found} == {"vpcConfig.publicAccessCidrs"}
    assert all(", where a list belongs. " in finding.message for finding in found)


def test_the_engine_is_shown_that_violation_too() -> None:
    assert diagnosed(by_analyzer(NO_WORLD_ENDPOINT, one(cluster("203.0.113.0/24")))) == set(NO_WORLD_ENDPOINT.checks)


def test_what_was_found_before_such_a_value_is_reported_with_it() -> None:
    first, second = found_in(NO_WORLD_ENDPOINT, one(cluster(["0.0.0.0/0", 24.0])))
    assert first.path == "vpcConfig.publicAccessCidrs[0]"
    assert second.path == "vpcConfig.publicAccessCidrs[1]"
    assert "24, where text belongs" in second.message

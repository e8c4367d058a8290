"""Findings of the runner that do not come from a check's own violations."""

from __future__ import annotations

import pytest

from policies.rules.gpu_pools import TAINTED
from policies.rules.namespaces import NAMESPACE_QUOTA
from policies.rules.node_groups import SAFE_UPDATE
from tests.policies.fixtures import FIXTURES
from tests.policies.fixtures.build import one, with_
from tests.policies.support import by_validate, findings_in


def test_a_value_of_the_wrong_type_is_a_violation_of_the_check_that_reads_it() -> None:
    fixture = one({"amiType": "AL2023_x86_64_NVIDIA", "taints": "nvidia.com/gpu:NoSchedule"})
    (finding,) = findings_in(TAINTED, fixture)
    assert (finding.id, finding.path) == ("gpu-pool-tainted/taint", "taints")
    assert "it is 'nvidia.com/gpu:NoSchedule', which is not a list" in finding.message
    assert finding.message.endswith(TAINTED.fix)
    assert by_validate(TAINTED, fixture) == {"taint"}


def test_a_value_of_the_wrong_type_does_not_hide_violations_of_other_checks() -> None:
    fixture = one({"updateConfig": {"maxUnavailablePercentage": "many"}, "forceUpdateVersion": True})
    assert {finding.check for finding in findings_in(SAFE_UPDATE, fixture)} == {"share", "force"}


@pytest.mark.parametrize("hard", ["8", ["requests.nvidia.com/gpu"]])
def test_a_stack_rule_reports_a_value_of_the_wrong_type(hard: object) -> None:
    good = FIXTURES[NAMESPACE_QUOTA.name].good[0]
    (finding,) = findings_in(NAMESPACE_QUOTA, with_(good, "quota", "spec.hard", hard))
    assert (finding.id, finding.path) == ("namespace-quota/gpus", "spec.hard")

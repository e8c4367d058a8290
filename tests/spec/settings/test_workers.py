"""A MultiKueue manager against the stacks of its workers."""

from collections.abc import Mapping
from typing import Any

import pytest

from spec.settings.platform import Platform
from spec.settings.workers import mismatches
from tests.spec.settings.stack import DELETE, loaded

TEAM: dict[str, Any] = {
    "project": "perception", "costCenter": "ml-vision", "budgetUsd": 6000,
    "namespaces": {"training": {}, "serving": {"purpose": "serving"}},
    "gpus": {"a100": {"nominalQuota": 1}, "l4": {"nominalQuota": 1}}, "cpus": {"cpu": {"nominalQuota": 8}},
}  # fmt: skip
WORKER: dict[str, Any] = {"addons.kueue": {"multiKueue": "worker"}, "teams.vision": TEAM}
MANAGER: dict[str, Any] = {
    "addons.kueue": {"multiKueue": "manager"},
    "teams.vision": TEAM,
    "queues": {"workers": {"west": {"secret": "kubeconfig-west", "stack": "west"}}, "remotePools": ["a100"]},
}


def found(worker: Mapping[str, Any], manager: Mapping[str, Any] | None = None) -> list[str]:
    west = loaded({**WORKER, **worker}).platform
    ours = loaded({**MANAGER, **(manager or {})}).platform
    return [str(one) for one in mismatches(ours, {"west": west}.get)]


def test_a_worker_with_the_same_teams_and_pools_has_no_problem() -> None:
    assert found({}) == []


@pytest.mark.parametrize(
    ("worker", "rule"),
    [
        ({"addons.kueue": {}}, "the stack must be a MultiKueue worker"),
        ({"teams": DELETE}, "the worker needs the team vision"),
        ({"teams.vision.namespaces": {"training": {}}}, "team vision needs the namespace vision-serving there"),
        ({"teams.vision.gpus": {"l4": {"nominalQuota": 1}}}, "team vision needs a share of the pool a100 there"),
        ({"pools.a100": DELETE, "teams.vision.gpus": {"l4": {"nominalQuota": 1}}},
         "the worker needs the remote pool a100"),
    ],
)  # fmt: skip
def test_what_a_worker_lacks_is_a_problem_of_the_manager(worker: dict[str, Any], rule: str) -> None:
    (only,) = found(worker)
    assert only.startswith(f"queues.workers.west.stack: {rule} (given: 'west'). ")
    assert only.endswith(" in stacks/Pulumi.west.yaml.")


def test_what_is_not_dispatched_need_not_be_on_the_worker() -> None:
    assert found({"teams.vision.gpus": {"a100": {"nominalQuota": 1}}}) == []


def test_without_remote_pools_every_pool_is_dispatched() -> None:
    every: dict[str, Any] = {"queues.remotePools": []}
    (only,) = found({"teams.vision.gpus": {"a100": {"nominalQuota": 1}}}, every)
    assert "team vision needs a share of the pool l4 there" in only


def test_a_worker_without_a_valid_file_is_a_problem_and_one_without_a_stack_is_not_compared() -> None:
    def never(_stack: str) -> Platform | None:
        return None

    (only,) = mismatches(loaded(MANAGER).platform, never)
    assert str(only).endswith("must be a stack whose file is valid (given: 'west'). Run `slipway check west`.")
    assert not list(mismatches(loaded({**MANAGER, "queues.workers": {"west": {"secret": "k"}}}).platform, never))

from __future__ import annotations

import pytest

from components.tenancy.priorities import PRIORITIES, priority_class, workload_priority_class
from spec.settings.teams import PriorityName

HIGHEST_OF_USERS = 1_000_000_000
"""kubernetes.io, "Pod Priority and Preemption"."""


def test_priorities_have_distinct_values_in_the_order_of_the_settings() -> None:
    values = [PRIORITIES[name].value for name in PriorityName]
    assert values == sorted(set(values), reverse=True)
    assert min(values) > 0
    assert max(values) < HIGHEST_OF_USERS


@pytest.mark.parametrize("name", PriorityName)
def test_both_classes_have_the_same_name_and_value(name: PriorityName) -> None:
    pods, queued = priority_class(name), workload_priority_class(name)
    assert pods["metadata"] == queued["metadata"] == {"name": str(name)}
    assert pods["value"] == queued["value"]
    assert pods["globalDefault"] is False


def test_only_inference_preempts_pods() -> None:
    preempting = [name for name in PriorityName if priority_class(name)["preemptionPolicy"] != "Never"]
    assert preempting == [PriorityName.PRODUCTION_INFERENCE]

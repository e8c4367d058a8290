"""Taints and tolerations in the spellings of Kubernetes and EKS."""

from __future__ import annotations

import pytest

from spec.pools.taints import Effect, Taint, Toleration, all_tolerated

GPU = Taint("nvidia.com/gpu", "true", "NoSchedule")


@pytest.mark.parametrize(
    ("effect", "eks"),
    [("NoSchedule", "NO_SCHEDULE"), ("PreferNoSchedule", "PREFER_NO_SCHEDULE"), ("NoExecute", "NO_EXECUTE")],
)
def test_effects_have_the_spelling_of_eks(effect: Effect, eks: str) -> None:
    assert Taint("team", "vision", effect).eks_effect == eks


def test_a_taint_is_written_as_kubectl_writes_it() -> None:
    assert str(GPU) == "nvidia.com/gpu=true:NoSchedule"


def test_a_taint_without_a_value_has_none_in_its_manifest() -> None:
    assert Taint("team", "", "NoExecute").manifest == {"key": "team", "effect": "NoExecute"}
    assert GPU.manifest == {"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}


def test_the_toleration_of_a_taint_tolerates_it() -> None:
    assert GPU.toleration.tolerates(GPU)
    assert GPU.toleration.manifest == {
        "key": "nvidia.com/gpu",
        "operator": "Equal",
        "value": "true",
        "effect": "NoSchedule",
    }


@pytest.mark.parametrize(
    "other",
    [
        Toleration("nvidia.com/gpus", "true", "NoSchedule"),
        Toleration("nvidia.com/gpu", "false", "NoSchedule"),
        Toleration("nvidia.com/gpu", "true", "NoExecute"),
    ],
)
def test_a_toleration_of_another_taint_does_not(other: Toleration) -> None:
    assert not other.tolerates(GPU)


def test_one_untolerated_taint_keeps_a_pod_away() -> None:
    pool = Taint("platform.slipway/pool", "a100", "NoSchedule")
    assert all_tolerated([GPU, pool], [GPU.toleration, pool.toleration])
    assert not all_tolerated([GPU, pool], [GPU.toleration])
    assert all_tolerated([], [])

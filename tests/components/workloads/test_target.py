"""The target of workloads from a stack file."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.workloads import Target
from spec.settings import ConfigurationError
from spec.settings.addons.batch import Kueue
from tests.components.pools.samples import platform
from tests.components.workloads.examples import ROOT

TEAMS = {
    "vision": {
        "project": "perception",
        "costCenter": "cc-1",
        "namespaces": {"training": {"purpose": "training"}, "serving": {"purpose": "serving"}},
        "gpus": {"spot": {"nominalQuota": 3}},
        "priorities": ["experiment", "interactive"],
    }
}
PLATFORM = platform({"spot": {"preset": "gpu-spot"}}, teams=TEAMS, addons={"kueue": {}})


def test_a_teams_namespace_has_its_labels_shares_and_priorities() -> None:
    target = Target.of(PLATFORM, namespace="vision-serving")
    assert target.labels == {
        "platform.slipway/team": "vision",
        "platform.slipway/project": "perception",
        "platform.slipway/cost-center": "cc-1",
    }
    assert target.shares == {"spot": 3}
    assert set(target.priorities) == {"experiment", "interactive"}
    assert target.open


def test_load_balancers_do_not_reach_a_namespace_for_training() -> None:
    assert not Target.of(PLATFORM, namespace="vision-training").open


def test_an_unknown_namespace_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match="vision-serving, vision-training"):
        Target.of(PLATFORM, namespace="vision")


def test_without_teams_any_namespace_is_accepted_and_shares_are_unknown() -> None:
    target = Target.of(platform({}), namespace="lab")
    assert target.labels == {"platform.slipway/team": "lab"}
    assert target.shares is None


def test_it_has_the_installed_add_ons() -> None:
    target = Target.of(PLATFORM, namespace="vision-training")
    assert target.addons is not None
    assert Kueue in target.addons
    assert target.runtimes == {}


def test_it_has_the_serving_runtimes_of_a_platform_with_kserve() -> None:
    target = Target.from_stack_file("prod", ROOT / "stacks", namespace="vision-serving")
    assert target.runtimes is not None
    assert "vllm-a100-2g.20gb" in target.runtimes
    assert (target.cluster, target.region) == ("slipway-prod", "us-east-1")


def test_a_missing_stack_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="must exist"):
        Target.from_stack_file("prod", tmp_path, namespace="vision")

"""What a scheduler in place of kube-scheduler can't keep of a stack file is refused."""

from typing import Any, Final

import pytest

from tests.spec.settings.stack import changed, problems, team

FIXED: Final = {"provisioner": "managed", "min": 2, "max": 2}


def stack(addon: str, **changes: Any) -> dict[str, Any]:
    """A valid stack with one team on two pools, and one of the two schedulers."""
    given: dict[str, Any] = {
        "addons": {"gpuOperator": {}, "efaDevicePlugin": {}, addon: {}},
        "cluster.version": "1.36",
        "teams": {"vision": team(gpus={"a100": {"nominalQuota": 2}})},
    }
    if addon == "volcano":
        given |= {f"pools.{pool}.{key}": value for pool in ("cpu", "a100") for key, value in FIXED.items()}
        given["pools.a100.zones"] = ["us-east-1a"]
    return changed(given | changes)


@pytest.mark.parametrize("addon", ["yunikorn", "volcano"])
def test_a_stack_that_a_scheduler_can_keep_has_no_problem(addon: str) -> None:
    assert problems(stack(addon)) == ()


BOTH: Final = ("yunikorn", "volcano")
CASES: Final[dict[str, tuple[tuple[str, ...], dict[str, Any], str, str]]] = {
    "before Kubernetes 1.36": (BOTH, {"cluster.version": "1.35"}, "addons.{}", '`cluster.version: "1.36"`'),
    "a weight": (BOTH, {"teams.vision.weight": 2}, "teams.vision.weight", "`kueue: {{}}`"),
    "settings of Kueue's queues": (BOTH, {"queues": {"spotFirst": False}}, "queues", "Remove them"),
    "a lending limit": (
        ("yunikorn",),
        {"teams.vision.gpus.a100.lendingLimit": 1},
        "teams.vision.gpus.a100.lendingLimit",
        "`volcano: {{}}`",
    ),
    "two pools with whole GPUs": (
        ("yunikorn",),
        {
            "teams.vision.gpus": {"h100": {"nominalQuota": 2}, "l4": {"nominalQuota": 1}},
        },
        "pools.l4",
        "counts nvidia.com/gpu of all pools, and h100 has it",
    ),
    "two pools with the same profile of MIG": (
        ("yunikorn",),
        {
            "pools.more": {"preset": "a100", "mig": {"profiles": {"1g.5gb": 4, "3g.20gb": 1}}},
            "teams.vision.gpus": {"a100": {"nominalQuota": 2}, "more": {"nominalQuota": 1}},
        },
        "pools.more",
        "counts nvidia.com/mig-1g.5gb of all pools",
    ),
    "nodes from zero": (("volcano",), {"pools.cpu.min": 0}, "pools.cpu.min", "min: 2"),
    "a long namespace": (
        ("yunikorn",),
        {"teams.vision.namespaces": {"a-very-long-namespace": {}}},
        "teams.vision",
        "at most 26 characters",
    ),
}


@pytest.mark.parametrize(("name", "addon"), [(name, addon) for name, case in CASES.items() for addon in case[0]])
def test_what_would_be_lost_is_refused(name: str, addon: str) -> None:
    _, changes, path, text = CASES[name]
    (problem,) = problems(stack(addon, **changes))
    assert problem.path == path.format(addon)
    assert text.replace("{{", "{").replace("}}", "}") in f"{problem.rule}. {problem.fix}"


def test_the_two_schedulers_exclude_each_other_and_kueue() -> None:
    found = problems(stack("yunikorn", **{"addons.volcano": {}, "addons.kueue": {}}))
    excluded = [each.path for each in found if "exclude each other" in each.rule]
    assert excluded == ["addons.kueue", "addons.kueue", "addons.volcano"]

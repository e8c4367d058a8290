"""What a change does to whom: settings, quotas, jobs that no longer fit, nodes that are replaced, findings."""

from dataclasses import replace
from typing import Any, Final

import pytest

from slipway.report.effects import concerned, settings
from slipway.report.markdown import markdown
from slipway.report.model import Effects, FindingView
from slipway.report.page import page
from slipway.report.plan import NOTHING, PropertyChange
from slipway.report.plan.compare import compare
from tests.slipway.report.conftest import SampleReport
from tests.slipway.report.plan.test_compare import one
from tests.support.cases import beside

CASES: Final = beside(__file__)

POOL = "kubernetes:karpenter.sh/v1:NodePool"
CLASS = "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass"
GROUP = "aws:eks/nodeGroup:NodeGroup"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
RENEWED = "its nodes are replaced, one after the other"


def queue(**quotas: tuple[str, str]) -> dict[str, Any]:
    """The queue of team vision, with a quota and what it may borrow of each resource of pool a100."""
    rows: list[dict[str, Any]] = [{"name": "memory", "nominalQuota": "9Gi"}]
    rows += [{"name": name, "nominalQuota": of, "borrowingLimit": borrow} for name, (of, borrow) in quotas.items()]
    spec = {"resourceGroups": [{"flavors": [{"name": "a100", "resources": rows}]}]}
    return one("kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue", "q", {"metadata": {"name": "vision"}, "spec": spec})


@pytest.mark.parametrize(("before", "after", "expected"), CASES["a changed queue concerns its team"])
def test_a_changed_queue_concerns_its_team(before: Any, after: Any, expected: list[list[str]]) -> None:
    found = concerned([queue(**before)], [queue(**after)], NOTHING, ("a100",))
    assert [list(each) for each in found] == expected


@pytest.mark.parametrize(
    ("token", "before", "after", "expected"),
    [
        (POOL, {"spec": {"template": {"metadata": {"labels": {"a": "1"}}}}}, {"spec": {"template": {}}}, RENEWED),
        (POOL, {"spec": {"limits": {"nodes": 1}}}, {"spec": {"limits": {"nodes": 2}}}, None),
        (
            POOL,
            {"spec": {"template": {"spec": {"requirements": [1]}}}},
            {"spec": {"template": {"spec": {"requirements": [2]}}}},
            "nodes that don't meet its new requirements are replaced",
        ),
        (POOL, {"spec": {}}, None, "its nodes are removed"),
        (CLASS, {"spec": {"userData": "a"}}, {"spec": {"userData": "b"}}, RENEWED),
        (TEMPLATE, {"userData": "a"}, {"userData": "b"}, RENEWED),
        (GROUP, {"capacityType": "SPOT"}, {"capacityType": "ON_DEMAND"}, RENEWED),
        (GROUP, {"labels": {"a": "1"}}, {"labels": {"a": "2"}}, None),
        (GROUP, {"capacityType": "SPOT"}, None, "its nodes are removed"),
    ],
)
def test_a_changed_template_replaces_the_nodes_of_its_pool(
    token: str, before: dict[str, Any], after: dict[str, Any] | None, expected: str | None
) -> None:
    chain = f"slipway:pools:Pool${token}"
    old, new = ([{**one(chain, "pool-a100-x", each), "type": token}] if each else [] for each in (before, after))
    found = concerned([], [], compare(old, new, {}, against="main"), ("a100", "a"))
    assert list(found) == ([("pool a100", expected)] if expected else [])


def test_the_comment_begins_with_what_changes_for_whom_and_has_new_findings_only(sample: SampleReport) -> None:
    advisory = FindingView(
        level="advisory", severity="low", rule="r/a", title="t", cases=(("x", "wrong"), ("y", "wrong")), external_ids=()
    )
    changed = settings({"pools": {"a": {"max": 1, "mig": {"layout": "x"}}}}, {"pools": {"a": {"max": 2}}})
    assert changed == (
        PropertyChange(path="pools.a.max", before="1", after="2"),
        PropertyChange(path="pools.a.mig", before='{"layout": "x"}'),
    )
    rule, name = advisory.rule, advisory.cases[0][0]
    effects = Effects(
        settings=changed, to=(("team vision", "quota of `x/a`, 3 → 4"),), new=frozenset({(rule, name)}),
        gone=(("r/c", "old"),),
    )  # fmt: skip
    report = replace(sample.report, effects=effects, plan=replace(sample.report.plan, changes=()), scenarios=())
    report = replace(report, evaluation=replace(report.evaluation, findings=(advisory,)))
    lines = markdown(report).splitlines()
    assert lines[4:10] == [
        "**2 settings change** compared with main (0123456789):", "",
        "- `pools.a.max`: `1` → `2`", '- `pools.a.mig`: `{"layout": "x"}` → —', "",
        "- **team vision**: quota of `x/a`, 3 → 4",
    ]  # fmt: skip
    as_before = sum(len(each.cases) for each in report.evaluation.findings) - 1
    assert f"**Policies: 1 new finding, 1 gone, {as_before} as before; 0 mandatory in all**" in lines
    assert [line.partition(":")[0] for line in lines if line.startswith(("- advisory", "- gone"))] == [
        f"- advisory `{rule}` on `{name}`", "- gone"
    ]  # fmt: skip
    assert len(lines) < 30
    shown = page(replace(sample.report, effects=effects))
    assert "<b>team vision</b>: quota of x/a, 3 → 4" in shown
    assert f"<b>new finding</b>: {rule} on <code>{name}</code>" in shown

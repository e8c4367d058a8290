"""Messages of upstream's components, each with what `slipway why` answers: the rows of `messages.yaml` beside this."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from infra.target import target_of
from slipway.why import table
from slipway.why.bundle import Bundle
from slipway.why.explain import explain
from slipway.why.table import place, rows
from spec import strict_yaml
from tests.slipway.why.objects import DEV, MANAGED, POOL, Object, bound, bundle, condition, event, obj, pod, workload
from tests.support.stacks import platform_of

ROWS: Final[dict[str, list[dict[str, Any]]]] = strict_yaml.beside(__file__, "messages")
CLASSES: Final = (
    obj("StorageClass", "gp3", provisioner="ebs.csi.aws.com"),
    obj("StorageClass", "efs", provisioner="efs.csi.aws.com"),
)


def waiting(row: dict[str, Any], message: str = "") -> Object:
    """A pod on pool a100, changed as the row says."""
    spec = dict(row.get("spec") or {})
    limits = {str(name): str(count) for name, count in spec.pop("devices", {"nvidia.com/mig-1g.5gb": 1}).items()}
    resources = {"limits": limits, "requests": {**limits, **spec.pop("requests", {})}}
    body = {
        "nodeSelector": {POOL: "a100"} if "affinity" not in spec else {},
        "tolerations": [{"operator": "Exists"}],
        "containers": [{"name": "main", "image": "a:1", "resources": resources}],
        **spec,
    }
    return pod(conditions=[condition("PodScheduled", "False", "Unschedulable", message)], spec=body)


def _autoscaled(reason: str, by: str) -> Callable[[dict[str, Any]], Bundle]:
    def of(row: dict[str, Any]) -> Bundle:
        one = waiting(row, "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.")
        others = [
            event(obj(each["kind"], each["name"]), each["reason"], each["text"]) for each in row.get("others") or ()
        ]
        events = (*others, event(one, reason, row["text"], by=by))
        stack = DEV if by == "karpenter" else MANAGED
        return bundle(one, events=events, target=stack if row.get("stack", True) else None)

    return of


def _ec2(row: dict[str, Any]) -> Bundle:
    one = waiting({"spec": {}})
    claim = obj("NodeClaim", "a100-x7b2f", status={"conditions": [condition("Launched", "Unknown", "", row["text"])]})
    nominated = event(one, "Nominated", "Pod should schedule on: nodeclaim/a100-x7b2f", by="karpenter")
    return bundle(one, claim, events=(nominated,))


def _scheduler(row: dict[str, Any]) -> Bundle:
    target = target_of(platform_of("dev"), namespace=row["team"]) if "team" in row else DEV
    return bundle(waiting(row, row["text"]), target=target if row.get("stack", True) else None)


def _kubelet(row: dict[str, Any]) -> Bundle:
    one = bound()
    return bundle(one, events=(event(one, row["reason"], row["text"], kind=row.get("kind", "Warning")),))


def _claim(row: dict[str, Any]) -> Bundle:
    spec = {
        "storageClassName": row.get("class", "gp3"),
        "accessModes": row.get("modes", ["ReadWriteOnce"]),
        "resources": {"requests": {"storage": "5Gi"}},
    }
    claim = obj("PersistentVolumeClaim", "data", spec=spec, status={"phase": "Pending"})
    one = waiting({"spec": {"volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]}})
    reason = row.get("reason", "ProvisioningFailed")
    kind = "Warning" if reason == "ProvisioningFailed" else "Normal"
    events = (event(claim, reason, row["text"], kind=kind),) if row["text"] else ()
    return bundle(one, claim, *CLASSES, events=events)


def _kueue(row: dict[str, Any]) -> Bundle:
    return bundle(workload(row["text"]))


def _failed(row: dict[str, Any]) -> Bundle:
    reason, _, message = row["text"].partition(" ")
    return bundle(obj("RayJob", "tune", status={"jobDeploymentStatus": "Failed", "reason": reason, "message": message}))


MAKES: Final[dict[str, Callable[[dict[str, Any]], Bundle]]] = {
    "karpenter": _autoscaled("FailedScheduling", "karpenter"),
    "autoscaler": _autoscaled("NotTriggerScaleUp", "cluster-autoscaler"),
    "ec2": _ec2,
    "scheduler": _scheduler,
    "kubelet": _kubelet,
    "claim": _claim,
    "kueue": _kueue,
    "failed": _failed,
}
CASES: Final = [(component, row) for component, each in ROWS.items() for row in each]


@pytest.mark.parametrize(("component", "row"), CASES, ids=[f"{one}-{row['says'][:40]}" for one, row in CASES])
def test_a_message_names_its_layer_and_a_fix(component: str, row: dict[str, Any]) -> None:
    answer = explain(MAKES[component](row))
    part = answer.part
    assert (str(part.layer), part.never) == (row["layer"], row.get("never", False)), answer.text()
    assert row["says"] in part.cause, answer.text()
    assert row["fix"] in part.fix, answer.text()
    assert row.get("numbers", part.numbers) == part.numbers
    if part.never:
        assert "waits" not in answer.sentence
        assert not part.fix.startswith("wait")


@pytest.mark.parametrize("component", MAKES)
def test_every_row_of_the_table_is_met_by_a_case(component: str) -> None:
    texts = [" ".join(f"{row.get('reason', '')} {row['text']}".split()) for row in ROWS[component]]
    parts = [part for text in texts for part in (text, *text.split("; "))]
    met = {place(component, part.removeprefix("Failed to schedule pod, ")) for part in parts}
    assert [row.says.pattern for at, row in enumerate(rows(component)) if at not in met] == []


@pytest.mark.parametrize(("section", "call"), [("parts", "part_of"), ("findings", "finding")])
def test_every_row_of_what_is_found_is_named_in_the_code(section: str, call: str) -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in Path(table.__file__).parent.glob("*.py"))
    keys = yaml.safe_load(table._FILE.read_text(encoding="utf-8"))[section]
    assert {key for key in keys if f'"{key}"' not in code and not key.startswith("no such ")} == set()
    assert {key for key in re.findall(rf'\b{call}\("([^"]+)"', code) if key not in keys} == set()

"""What would hold a manifest, and variants of good ones that are wrong."""

import copy
from dataclasses import replace
from typing import Any, Final

import pytest

from components.addons.kueue import FRAMEWORKS
from components.workloads.target import Target
from infra.target import target_of
from slipway.why.answer import Answer
from slipway.why.file import findings, notes
from slipway.why.manifests import answer, located
from slipway.why.podsets import podsets
from spec.settings.admission import Action, Admission
from tests.e2e.workloads.rows import DEV as ROWS
from tests.e2e.workloads.rows import Objects, Row
from tests.e2e.workloads.wrong import WRONG, Wrong
from tests.slipway.why.objects import CASES, DEV, POOL, Object, cases
from tests.support.stacks import platform_of

# What would hold a manifest, by the settings of stack dev alone: each wrong variant of a right Job.


QUEUE: Final = "kueue.x-k8s.io/queue-name"
TOLERATION: Final = {"key": "nvidia.com/gpu", "operator": "Exists"}
CLAIM: Final = {"name": "d", "persistentVolumeClaim": {"claimName": "checkpoints"}}
MIG: Final = "nvidia.com/mig-1g.5gb"
SHARE: Final = {"nvidia.com/gpu": "1"}


def job(devices: dict[str, str] | None = None, **more: Any) -> Object:
    """A right Job on one MIG instance; `spec__x` changes the spec, `pod__x` the pod, `labels` its labels."""
    limits = {"cpu": "1", "memory": "1Gi", **({MIG: "1"} if devices is None else devices)}
    container = {"name": "main", "image": "registry.example.com/a:1", "resources": {"limits": limits}}
    pod = {
        "containers": [container],
        "nodeSelector": {POOL: "a100"},
        "tolerations": [TOLERATION],
        "restartPolicy": "Never",
    }
    spec: Object = {"activeDeadlineSeconds": 3600, "backoffLimit": 1, "ttlSecondsAfterFinished": 60}
    for key, value in more.items():
        where, _, field = key.partition("__")
        if where in ("spec", "pod"):
            {"spec": spec, "pod": pod}[where][field] = value
    labels = more.get("labels", {QUEUE: "default"})
    metadata = {"name": "train", "namespace": "vision", "labels": labels}
    template = {
        "metadata": {"annotations": more.get("annotations", {}), "labels": more.get("pod_labels", {})},
        "spec": {key: value for key, value in pod.items() if value is not None},
    }
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {**spec, "template": template}}


def autoscaler(*metrics: Object) -> Object:
    spec = {"scaleTargetRef": {"kind": "Deployment", "name": "a"}, "maxReplicas": 2, "metrics": list(metrics)}
    return {
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "a"}, "spec": spec
    }  # fmt: skip


def claim(**more: Any) -> Object:
    spec = {"storageClassName": "gp3", "accessModes": ["ReadWriteOnce"], **more}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "a"}, "spec": spec}


_TERM: Final = {"topologyKey": "topology.kubernetes.io/zone", "labelSelector": {"matchLabels": {"app": "a"}}}
APART: Final = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_TERM]}}
_MOUNT: Final = {"volumeMounts": [{"name": "d", "mountPath": "/d"}]}
_WRITER: Final = {"name": "main", "image": "registry.example.com/a:1", **_MOUNT}
WRITES: Final = {
    "pod__volumes": [CLAIM],
    "pod__containers": [{**_WRITER, "resources": {"limits": {"cpu": "1", "memory": "1Gi", **SHARE}}}],
}
"""A claim that the job writes to."""


def asked(manifest: Object, *others: Object, rules: Admission | None = None) -> Answer:
    return answer(manifest, target=DEV, rules=rules or Admission(), dry_run=None, others=(manifest, *others))


def of_row(row: dict[str, Any]) -> Object:
    """The manifest of a row of `cases.yaml`."""
    if "job" in row:
        changes = dict(row["job"])
        more = {f"{part}__{key}": one for part in ("spec", "pod") for key, one in changes.pop(part, {}).items()}
        more |= WRITES if changes.pop("writes", False) else {}
        more |= {"pod__affinity": APART} if changes.pop("apart", False) else {}
        return job(changes.pop("devices", None), **more, **changes)
    if "metrics" in row:
        return autoscaler(*row["metrics"])
    return claim(**row["claim"]) if "claim" in row else dict(row["manifest"])


MANIFESTS: Final = {row["what"]: of_row(row) for row in CASES["files"]}


@cases("files")
def test_a_manifest_is_accepted_or_its_layer_is_named(row: dict[str, Any]) -> None:
    found = asked(MANIFESTS[row["what"]], *row.get("beside", ()))
    assert found.held is ("layer" in row), found.text()
    if "rule" in row:
        warned = Admission.model_validate({row["rule"]: Action.WARN})
        assert not asked(MANIFESTS[row["what"]], rules=warned).held
    if found.held:
        assert (found.part.layer, row["says"] in found.part.cause) == (row["layer"], True), found
        assert found.part.fix
        assert row.get("fix", "") in found.part.fix
        assert "would" in found.sentence


def test_the_right_job_is_accepted_with_where_it_runs() -> None:
    found = asked(job(spec__parallelism=2, spec__completions=2))
    assert found.sentence == "job/train would be accepted: 2 pods on a100."
    assert not found.held


def test_an_object_without_a_name_is_called_by_the_beginning_of_one() -> None:
    manifest = job()
    manifest["metadata"]["generateName"] = f"{manifest['metadata'].pop('name')}-"
    assert asked(manifest).subject == "job/train-"


def test_every_other_problem_is_listed_too() -> None:
    manifest = copy.deepcopy(MANIFESTS["no toleration"])
    manifest["spec"]["activeDeadlineSeconds"] = None
    assert [one.source for one in asked(manifest).part.evidence] == ["rule gpu-pool of the stack", "also admission"]


def test_a_deadline_that_nodes_do_not_outlast_is_a_note() -> None:
    found = asked(
        job({"cpu": "1"}, pod__nodeSelector={POOL: "cpu"}, pod__tolerations=None, spec__activeDeadlineSeconds=864000)
    )
    assert not found.held
    assert "note" in [one.source for one in found.part.evidence]


@cases("by quota")
def test_a_pool_of_the_queue_on_which_pods_do_not_fit_is_a_note(row: dict[str, Any]) -> None:
    manifest = job({"nvidia.com/gpu": row["gpus"]}, pod__nodeSelector=row.get("selector"))
    target = target_of(platform_of("prod"), namespace="vision-training")
    found = [("pool gpu-spot, on" in one.rule, one.fix) for one in notes(manifest, target)]
    assert found == ([(True, f"Select {POOL}: h100.")] if row["noted"] else [])
    # A team without a share of the pool that fits hears of that instead.
    assert not notes(manifest, replace(target, shares={"gpu-spot": 9}))


def test_a_list_is_its_items() -> None:
    assert located([{"kind": "List", "items": [{"kind": "Job"}, {"kind": "Pod"}]}, None]) == [
        ((0, "items", 0), {"kind": "Job"}),
        ((0, "items", 1), {"kind": "Pod"}),
    ]


@cases("settings")
def test_the_settings_of_the_stack_hold_or_note_it(row: dict[str, Any]) -> None:
    target = replace(DEV, **{"addons": None, **row.get("on", {})})
    found = findings(row["manifest"], target)
    assert [[str(one.layer), one.problem.path, str(one.problem.value)] for one in found] == row.get("held", [])
    assert [one.path for one in notes(row["manifest"], target)] == row.get("noted", [])


@cases("podsets")
def test_the_pods_of_every_kind_are_counted(row: dict[str, Any]) -> None:
    assert [one.count for one in podsets({"kind": row["what"], "spec": row["spec"]})] == row["counts"]


# The wrong variants of the workload table before submission: by the settings of the stack, without a cluster.


def target(namespace: str) -> Target:
    """A namespace of dev, with the operators that the table adds."""
    found = target_of(platform_of("dev"), namespace=namespace)
    return replace(found, addons=None, queued=frozenset(FRAMEWORKS.values()))


def held_by(namespace: str, objects: Objects) -> list[str]:
    """What holds the last of some objects: the layer, and the sentence."""
    found = answer(objects[-1], target=target(namespace), rules=Admission(), dry_run=None, others=objects)
    return [str(found.part.layer), found.sentence, found.part.fix]


@pytest.mark.parametrize("variant", WRONG, ids=lambda each: each.name)
def test_a_wrong_variant_is_explained_before_submission(variant: Wrong) -> None:
    layer, sentence, fix = held_by(variant.namespace, variant.objects())
    assert layer == variant.file.layer, sentence
    assert variant.file.words in sentence
    assert fix


@pytest.mark.parametrize("row", ROWS, ids=lambda each: each.name)
def test_the_right_ones_are_accepted(row: Row) -> None:
    assert held_by(row.namespace, row.twin())[0] == "accepted"

"""Wrong variants of the table's YAML: what is wrong, which layer refuses or holds it, and its essential words.

Each is asked about twice: as a file before submission, by the settings of the stack alone, and in the cluster, where
the API server refuses it or it waits.
"""

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from slipway.why.answer import Answer, Layer
from slipway.why.podsets import podsets
from tests.e2e.workloads.rows import BY_STACK, Objects

Object = dict[str, Any]
QUEUE: Final = "kueue.x-k8s.io/queue-name"
PRIORITY: Final = "kueue.x-k8s.io/priority-class"
SLICE: Final = "nvidia.com/mig-1g.5gb"
ON_SLICES: Final = {
    "nodeSelector": {"platform.slipway/pool": "a100"},
    "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
}
"""Where the pods of a job run that a variant makes too large or without a toleration: pool cpu has no taint."""


@dataclass(frozen=True, kw_only=True)
class Held:
    """What holds a variant."""

    layer: Layer  # the layer that `slipway why` names
    words: str  # what its answer says

    def is_said(self, answer: Answer) -> bool:
        """Whether an answer names the layer, says the words, and has a next step."""
        return answer.part.layer is self.layer and self.words in answer.sentence and bool(answer.part.fix)


@dataclass(frozen=True, kw_only=True)
class Wrong:
    """One variant."""

    row: str  # name of the row whose YAML it changes
    what: str  # what is wrong with it
    file: Held  # the answer before submission, by the settings of the stack
    cluster: Held  # the answer of the API server, or for the object
    refused: bool = False  # whether the API server refuses the object itself
    stack: str = "dev"  # the stack

    @property
    def alone(self) -> bool:
        """Whether it is admitted and leaves no quota to others of its row."""
        return (self.row, self.what) == ("trainjob-1", "larger than any node")

    @property
    def name(self) -> str:
        """`job, no toleration`."""
        return f"{self.row}, {self.what}"

    def objects(self) -> Objects:
        """The manifests, the wrong one last, with names of their own."""
        (row,) = [each for each in BY_STACK[self.stack] if each.name == self.row]
        *others, subject = copy.deepcopy(row.twin())
        subject["metadata"]["name"] = f"{self.row}-{self.what.replace(' ', '-')}"
        WHAT[self.what](subject)
        return [*others, subject]

    @property
    def namespace(self) -> str:
        """Namespace of the row."""
        return next(each.namespace for each in BY_STACK[self.stack] if each.name == self.row)


# -- what is wrong -----------------------------------------------------------------------------------------------------


def _specs(manifest: Object) -> list[Object]:
    """The pod specs that work is done in: not that of a launcher or a head."""
    return [each.spec for each in podsets(manifest) if each.name not in ("Launcher", "head")]  # type: ignore[misc]


def _on_slices(manifest: Object, devices: int = 1) -> None:
    for spec in _specs(manifest):
        spec.update(copy.deepcopy(ON_SLICES))
        limits = spec["containers"][0]["resources"]["limits"]
        limits.pop("nvidia.com/gpu", None)
        limits[SLICE] = devices


def _no_toleration(manifest: Object) -> None:
    _on_slices(manifest)
    for spec in _specs(manifest):
        spec["tolerations"] = []


def _no_such_queue(manifest: Object) -> None:
    manifest["metadata"]["labels"][QUEUE] = "defualt"


def _larger_than_quota(manifest: Object) -> None:
    spec, kind = manifest["spec"], manifest["kind"]
    if kind == "TrainJob":
        spec["trainer"]["numNodes"] = 4
        return
    _on_slices(manifest)
    if kind == "Job":
        spec |= {"parallelism": 40, "completions": 40}
    elif kind == "JobSet":
        spec["replicatedJobs"][0]["replicas"] = 40
    elif kind == "RayCluster":
        spec["workerGroupSpecs"][0] |= dict.fromkeys(("replicas", "minReplicas", "maxReplicas"), 40)
    else:
        groups = next(value for key, value in spec.items() if key.endswith("ReplicaSpecs"))
        # An anchor of the YAML makes one object of both groups.
        groups["Worker"] = {**copy.deepcopy(groups["Worker"]), "replicas": 40}


def _larger_than_any_node(manifest: Object) -> None:
    if manifest["kind"] == "TrainJob":
        both = {"nvidia.com/gpu": 2}
        manifest["spec"]["trainer"]["resourcesPerNode"] = {"requests": both, "limits": both}
        return
    _on_slices(manifest, 57)


def _more_cpu_than_any_node(manifest: Object) -> None:
    for spec in _specs(manifest):
        spec.update({"nodeSelector": {"platform.slipway/pool": "cpu"}, "tolerations": []})
        spec["containers"][0]["resources"] = {"requests": {"cpu": "20", "memory": "2Gi"}, "limits": {"memory": "2Gi"}}


def _wrong_claim(manifest: Object) -> None:
    volumes = [{"name": "out", "persistentVolumeClaim": {"claimName": "checkpionts"}}]
    if manifest["kind"] == "TrainJob":
        template = {"spec": {"volumes": volumes}}
        job = {"name": "node", "template": {"spec": {"template": template}}}
        patch = {
            "manager": "tests.example.com/claim",
            "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [job]}}},
        }
        manifest["spec"]["runtimePatches"] = [patch]
        return
    for spec in _specs(manifest):
        spec["volumes"] = volumes
        spec["containers"][0]["volumeMounts"] = [{"name": "out", "mountPath": "/out"}]


def _wrong_priority(manifest: Object) -> None:
    for spec in _specs(manifest):
        spec["priorityClassName"] = "urgent"


def _wrong_priority_in_the_queue(manifest: Object) -> None:
    manifest["metadata"]["labels"][PRIORITY] = "urgent"


WHAT: Final[Mapping[str, Callable[[Object], None]]] = {
    "no toleration": _no_toleration,
    "no such queue": _no_such_queue,
    "larger than quota": _larger_than_quota,
    "larger than any node": _larger_than_any_node,
    "more cpu than any node": _more_cpu_than_any_node,
    "wrong claim": _wrong_claim,
    "wrong priority": _wrong_priority,
    "wrong queue priority": _wrong_priority_in_the_queue,
}


# -- what holds it -----------------------------------------------------------------------------------------------------

_TAINT: Final = "must tolerate its taint nvidia.com/gpu=true:NoSchedule"
_GPU_POOL: Final = Held(layer=Layer.ADMISSION, words="rule gpuPool: no pool fits this pod")


def _held(layer: Layer, file: str, cluster: str = "", *, refused: bool = False) -> tuple[Held, Held, bool]:
    """By one layer, in the same words where the cluster has no others."""
    return Held(layer=layer, words=file), Held(layer=layer, words=cluster or file), refused


USUAL: Final[Mapping[str, tuple[Held, Held, bool]]] = {
    "no toleration": _held(Layer.ADMISSION, _TAINT, _GPU_POOL.words, refused=True),
    "no such queue": _held(
        Layer.QUEUE,
        "has no such LocalQueue (given: defualt); next: write default",
        "LocalQueue defualt does not exist",
    ),
    "larger than quota": _held(
        Layer.QUOTA,
        "must fit into the team's share: 5 of a100 has 35 of nvidia.com/mig-1g.5gb (given: 4",
        "on pool a100, and the team can have at most 35",
    ),
    "larger than any node": _held(
        Layer.ADMISSION,
        "a node of pool a100 has 56 (given: 57); next: request at most 56",
        _GPU_POOL.words,
        refused=True,
    ),
    "more cpu than any node": _held(Layer.SCHEDULER, "of pool cpu has 15.39 of cpu for pods"),
    "wrong claim": _held(
        Layer.VOLUME,
        "(given: checkpionts); next: use one of checkpoints",
        "claim checkpionts does not exist",
    ),
    "wrong priority": _held(
        Layer.ADMISSION, "urgent is not for teams; next: use one of production-inference", refused=True
    ),
    "wrong queue priority": _held(
        Layer.ADMISSION, "rule priorityClass: the priority class urgent is not for teams", refused=True
    ),
}
"""What answers before submission, what the cluster answers, and whether the API server refuses the object."""
_OF_TWO_SETS: Final = (USUAL["larger than quota"][0], Held(layer=Layer.QUOTA, words="35"), False)
"""Kueue reports what it tried last, which may be of the launcher or the head: then the stack's settings answer."""
OTHERWISE: Final[Mapping[tuple[str, str], tuple[Held, Held, bool]]] = {
    ("mpijob", "larger than quota"): _OF_TWO_SETS,
    ("raycluster", "larger than quota"): _OF_TWO_SETS,
    # The pods of a TrainJob are its runtime's: the API server does not see them with it.
    ("trainjob-1", "larger than quota"): _held(
        Layer.QUOTA, "3 of h100 has 3 of nvidia.com/gpu (given: 4", "on pool h100, and the team can have at most 3"
    ),
    ("trainjob-1", "larger than any node"): (
        Held(layer=Layer.SCHEDULER, words="a node of pool h100 has 1 (given: 2)"),
        _GPU_POOL,
        False,
    ),
}
"""The same for a row that differs."""
_OF_A_TRAIN_JOB: Final = (
    "no such queue", "larger than quota", "larger than any node", "wrong claim", "wrong queue priority"
)  # fmt: skip
"""Its runtime has the tolerations and the priority of its pods."""
_ONCE: Final = "more cpu than any node"
"""For one row: it is admitted, and five would leave no quota to the other variants."""


def _variants() -> Iterator[Wrong]:
    for row in ("job", "jobset", "trainjob-1", "pytorchjob", "mpijob", "raycluster"):
        for what in _OF_A_TRAIN_JOB if row == "trainjob-1" else WHAT:
            if what == _ONCE and row != "job":
                continue
            file, cluster, refused = OTHERWISE.get((row, what), USUAL[what])
            yield Wrong(row=row, what=what, file=file, cluster=cluster, refused=refused)


WRONG: Final = tuple(_variants())
"""All variants, on stack dev."""

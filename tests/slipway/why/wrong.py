"""Wrong variants of the manifests in `workloads`: what is wrong, which layer would hold it, and its essential words."""

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from slipway.why.answer import Layer
from slipway.why.podsets import podsets

Object = dict[str, Any]
QUEUE: Final = "kueue.x-k8s.io/queue-name"
PRIORITY: Final = "kueue.x-k8s.io/priority-class"
SLICE: Final = "nvidia.com/mig-1g.5gb"
ON_SLICES: Final = {
    "nodeSelector": {"platform.slipway/pool": "a100"},
    "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
}
"""Where the pods of a job run that a variant makes too large or without a toleration: pool cpu has no taint."""
FOLDER: Final = Path(__file__).with_name("workloads")
RIGHT: Final = tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))
"""Each kind of workload that stack dev serves, as a user would write it."""


def objects_of(name: str) -> list[Object]:
    """The manifests of a file, the workload last."""
    return list(yaml.safe_load_all((FOLDER / f"{name}.yaml").read_text(encoding="utf-8")))


def namespace_of(name: str) -> str:
    """The namespace of the team that has the pool."""
    return "language" if name.startswith("trainjob") else "vision"


@dataclass(frozen=True, kw_only=True)
class Wrong:
    """One variant.

    Attributes:
        row: Name of the file that it changes.
        what: What is wrong with it.
        layer: The layer that `slipway why` names.
        words: What its answer says.
    """

    row: str
    what: str
    layer: Layer
    words: str

    def objects(self) -> list[Object]:
        """The manifests, the wrong one last."""
        found = objects_of(self.row)
        WHAT[self.what](found[-1])
        return found


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
        spec["trainer"]["numNodes"] = 3
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


# -- what would hold it ------------------------------------------------------------------------------------------------

USUAL: Final[Mapping[str, tuple[Layer, str]]] = {
    "no toleration": (Layer.ADMISSION, "must tolerate its taint nvidia.com/gpu=true:NoSchedule"),
    "no such queue": (Layer.QUEUE, "has no such LocalQueue (given: defualt); next: write default"),
    "larger than quota": (
        Layer.QUOTA,
        "must fit into the team's share: 5 of a100 has 35 of nvidia.com/mig-1g.5gb (given: 4",
    ),
    "larger than any node": (Layer.ADMISSION, "a node of pool a100 has 56 (given: 57); next: request at most 56"),
    "more cpu than any node": (Layer.SCHEDULER, "of pool cpu has 15.39 of cpu for pods"),
    "wrong claim": (Layer.VOLUME, "(given: checkpionts); next: use one of checkpoints"),
    "wrong priority": (Layer.ADMISSION, "urgent is not for teams; next: use one of production-inference"),
    "wrong queue priority": (Layer.ADMISSION, "rule priorityClass: the priority class urgent is not for teams"),
}
OF_A_TRAIN_JOB: Final[Mapping[str, tuple[Layer, str]]] = {
    **{what: USUAL[what] for what in ("no such queue", "wrong claim", "wrong queue priority")},
    # The pods of a TrainJob are its runtime's, which has their tolerations and their priority.
    "larger than quota": (Layer.QUOTA, "2 of h100 has 2 of nvidia.com/gpu (given: 3"),
    "larger than any node": (Layer.SCHEDULER, "a node of pool h100 has 1 (given: 2)"),
}


def _variants() -> Iterator[Wrong]:
    for row in ("job", "jobset", "trainjob-1", "pytorchjob", "mpijob", "raycluster"):
        for what, (layer, words) in (OF_A_TRAIN_JOB if row.startswith("trainjob") else USUAL).items():
            yield Wrong(row=row, what=what, layer=layer, words=words)


WRONG: Final = tuple(_variants())

"""CRDs of the training operator v1 (v1.9.4), and what those of the MPI Operator share with them: the operators' own
fields are typed, pod templates are not.

Its MPIJob (v1) is not among them: the CRD of the MPI Operator has the same name, and Kueue manages only that one (ADR
0064).

Upstream repeats the whole pod schema in each of six files of 400 KB. Without it, a typo in a pod template is found only
when the operator creates the pod; in exchange, the CRDs are part of the program.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from components.base.operator import custom_resource


@dataclass(frozen=True, kw_only=True)
class JobKind:
    """One kind of job."""

    kind: str
    replicas: str  # field of its spec with the replica groups
    fields: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Other fields of its spec, with their schemas."""
    scales: bool = False  # whether its workers can be scaled (`kubectl scale`)

    @property
    def singular(self) -> str:
        """`pytorchjob`, which is also the value of the operator's flag `--enable-scheme`."""
        return self.kind.lower()

    @property
    def plural(self) -> str:
        """`pytorchjobs`."""
        return f"{self.singular}s"


TEXT: Final = {"type": "string"}
NUMBER: Final = {"type": "integer", "format": "int32"}
SWITCH: Final = {"type": "boolean"}
ANYTHING: Final = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
"""An untyped part: pod templates are validated when the operator creates the pods."""

_ELASTIC: Final = {
    "maxReplicas": NUMBER,
    "maxRestarts": NUMBER,
    "metrics": {"type": "array", "items": ANYTHING},
    "minReplicas": NUMBER,
}
_PYTORCH_ELASTIC: Final = {
    **_ELASTIC,
    "nProcPerNode": NUMBER,
    "rdzvBackend": TEXT,
    "rdzvConf": {"type": "array", "items": {"type": "object", "properties": {"key": TEXT, "value": TEXT}}},
    "rdzvHost": TEXT,
    "rdzvId": TEXT,
    "rdzvPort": NUMBER,
    "standalone": SWITCH,
}

KINDS: Final[Mapping[str, JobKind]] = {
    kind.kind: kind
    for kind in (
        JobKind(kind="JAXJob", replicas="jaxReplicaSpecs", scales=True),
        JobKind(
            kind="PaddleJob",
            replicas="paddleReplicaSpecs",
            fields={"elasticPolicy": {"type": "object", "properties": _ELASTIC}},
            scales=True,
        ),
        JobKind(
            kind="PyTorchJob",
            replicas="pytorchReplicaSpecs",
            fields={"elasticPolicy": {"type": "object", "properties": _PYTORCH_ELASTIC}, "nprocPerNode": TEXT},
            scales=True,
        ),
        JobKind(kind="TFJob", replicas="tfReplicaSpecs", fields={"enableDynamicWorker": SWITCH, "successPolicy": TEXT}),
        JobKind(kind="XGBoostJob", replicas="xgbReplicaSpecs"),
    )
}


GROUP: Final = "kubeflow.org"
_COUNT: Final = {"type": "integer", "format": "int64"}
_TIME: Final = {"type": "string", "format": "date-time"}
_QUANTITY: Final = {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True}

RUN_POLICY: Final = {
    "type": "object",
    "properties": {
        "activeDeadlineSeconds": _COUNT,
        "backoffLimit": NUMBER,
        "cleanPodPolicy": TEXT,
        "managedBy": TEXT,
        "schedulingPolicy": {
            "type": "object",
            "properties": {
                "minAvailable": NUMBER,
                "minResources": {"type": "object", "additionalProperties": _QUANTITY},
                "priorityClass": TEXT,
                "queue": TEXT,
                "scheduleTimeoutSeconds": NUMBER,
            },
        },
        "suspend": {**SWITCH, "default": False},
        "ttlSecondsAfterFinished": NUMBER,
    },
}
REPLICAS: Final = {
    "type": "object",
    "additionalProperties": {
        "type": "object",
        "properties": {"replicas": NUMBER, "restartPolicy": TEXT, "template": ANYTHING},
    },
}
STATUS: Final = {
    "type": "object",
    "properties": {
        "completionTime": _TIME,
        "conditions": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["status", "type"],
                "properties": {
                    "lastTransitionTime": _TIME,
                    "lastUpdateTime": _TIME,
                    "message": TEXT,
                    "reason": TEXT,
                    "status": TEXT,
                    "type": TEXT,
                },
            },
        },
        "lastReconcileTime": _TIME,
        "replicaStatuses": {"type": "object", "additionalProperties": ANYTHING},
        "startTime": _TIME,
    },
}


def definition(kind: JobKind) -> dict[str, Any]:
    """The CRD of a kind."""
    spec = {
        "type": "object",
        "required": [kind.replicas],
        "properties": {"runPolicy": RUN_POLICY, kind.replicas: REPLICAS, **kind.fields},
    }
    subresources = {"status": {}, **({"scale": _scale(kind)} if kind.scales else {})}
    names = {"kind": kind.kind, "listKind": f"{kind.kind}List", "plural": kind.plural, "singular": kind.singular}
    return crd("v1", names, spec, subresources)


def crd(
    version: str, names: Mapping[str, str], spec: Mapping[str, Any], subresources: Mapping[str, Any]
) -> dict[str, Any]:
    """The CRD of a job of Kubeflow in one version, with the status and the columns that all of them have."""
    properties = {"apiVersion": TEXT, "kind": TEXT, "metadata": {"type": "object"}, "spec": spec, "status": STATUS}
    columns = {"State": ".status.conditions[-1:].type"}
    return custom_resource(GROUP, version, names, {"properties": properties}, columns, subresources=subresources)


def _scale(kind: JobKind) -> dict[str, str]:
    return {
        "specReplicasPath": f".spec.{kind.replicas}.Worker.replicas",
        "statusReplicasPath": ".status.replicaStatuses.Worker.active",
        "labelSelectorPath": ".status.replicaStatuses.Worker.selector",
    }

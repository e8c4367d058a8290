"""Kinds of the training operator v1, from its CRDs of v1.9.4.

Its MPIJob (v1) is not among them: the CRD of the MPI Operator has the same name, and Kueue manages only that one (ADR
0064).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final


@dataclass(frozen=True, kw_only=True)
class JobKind:
    """One kind of job.

    Attributes:
        kind: Its name.
        replicas: Field of its spec with the replica groups.
        fields: Other fields of its spec, with their schemas.
        scales: Whether its workers can be scaled (`kubectl scale`).
    """

    kind: str
    replicas: str
    fields: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    scales: bool = False

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
            fields={
                "elasticPolicy": {"type": "object", "properties": _PYTORCH_ELASTIC},
                "nprocPerNode": TEXT,
            },
            scales=True,
        ),
        JobKind(
            kind="TFJob",
            replicas="tfReplicaSpecs",
            fields={"enableDynamicWorker": SWITCH, "successPolicy": TEXT},
        ),
        JobKind(kind="XGBoostJob", replicas="xgbReplicaSpecs"),
    )
}

"""The CRD of MPIJob v2beta1: the operator's own fields are typed, pod templates are not (as for the training operator).

Fields and defaults are those of the CRD of v0.8.2.
"""

from __future__ import annotations

from typing import Any, Final

from components.addons.training_operator.crds import REPLICAS, RUN_POLICY, crd
from components.addons.training_operator.kinds import NUMBER, SWITCH, TEXT

VERSION: Final = "v2beta1"
SSH_PATH: Final = "/root/.ssh"
"""The operator's default. An image whose user is not root needs another path."""


def definition() -> dict[str, Any]:
    """The CRD."""
    spec = {
        "type": "object",
        "required": ["mpiReplicaSpecs"],
        "properties": {
            "launcherCreationPolicy": {**TEXT, "default": "AtStartup"},
            "mpiImplementation": {**TEXT, "default": "OpenMPI", "enum": ["OpenMPI", "Intel", "MPICH"]},
            "mpiReplicaSpecs": REPLICAS,
            "runLauncherAsWorker": {**SWITCH, "default": False},
            "runPolicy": RUN_POLICY,
            "slotsPerWorker": {**NUMBER, "default": 1},
            "sshAuthMountPath": {**TEXT, "default": SSH_PATH},
        },
    }
    names = {"kind": "MPIJob", "listKind": "MPIJobList", "plural": "mpijobs", "singular": "mpijob"}
    return crd(VERSION, names, spec, {"status": {}})

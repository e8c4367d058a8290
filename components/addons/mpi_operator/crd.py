"""The CRD of MPIJob v2beta1: the operator's own fields are typed, pod templates are not (as for the training operator).

Fields and defaults are those of the CRD of v0.8.2.
"""

from __future__ import annotations

from typing import Any, Final

from components.addons.training_operator.crds import GROUP, REPLICAS, RUN_POLICY, STATUS
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
    version = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "additionalPrinterColumns": [
            {"name": "State", "type": "string", "jsonPath": ".status.conditions[-1:].type"},
            {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
        ],
        "schema": {
            "openAPIV3Schema": {
                "type": "object",
                "properties": {
                    "apiVersion": TEXT,
                    "kind": TEXT,
                    "metadata": {"type": "object"},
                    "spec": spec,
                    "status": STATUS,
                },
            }
        },
    }
    names = {"kind": "MPIJob", "listKind": "MPIJobList", "plural": "mpijobs", "singular": "mpijob"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"mpijobs.{GROUP}"},
        "spec": {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]},
    }

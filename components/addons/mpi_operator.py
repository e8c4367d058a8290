"""MPI Operator: MPIJobs of `kubeflow.org/v2beta1`, whose launcher starts processes on its workers by SSH.

Its project publishes YAML and no chart. Names of objects, flags and permissions, fields and defaults of the CRD are
those of deploy/v2beta1/mpi-operator.yaml (github.com/kubeflow/mpi-operator, v0.8.2).
"""

from collections.abc import Mapping
from typing import Any, Final

from components.addons.kubeflow_crds import GROUP, NUMBER, REPLICAS, RUN_POLICY, SWITCH, TEXT, crd
from components.base.addon import AddOn, AddOnContext, AddOnFacts, Parts
from components.base.controllers import Controller
from components.base.operator import ALL, Operator, rule
from components.base.placement import keeps_one
from spec.catalog.software import MANIFESTS
from spec.settings.addons.batch import MpiOperator as Settings
from spec.settings.addons.batch import Volcano

VERSION: Final = "v2beta1"
SSH_PATH: Final = "/root/.ssh"  # The operator's default. An image whose user is not root needs another path.


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


NAME: Final = "mpi-operator"
OPERATOR: Final = Operator(NAME, NAME, {"app.kubernetes.io/name": NAME, "app.kubernetes.io/component": "mpijob"})
HEALTH_PORT: Final = 8080


def access() -> dict[str, dict[str, Any]]:
    """Service account, ClusterRole and ClusterRoleBinding.

    Upstream's rules without `pods/exec` and `endpoints`, which version 1 used, and without CRDs, and one more.
    """
    rules = [
        # The SSH key of each job is a Secret, its host file a ConfigMap.
        rule("", ["configmaps", "secrets", "services"], ("create", "list", "update", "watch")),
        rule("", ["pods"], ALL),
        rule("", ["events"], ("create", "patch")),
        rule("batch", ["jobs"], ("create", "list", "update", "watch")),
        # To resume a launcher it clears its start time (v0.8.2, mpi_job_controller.go). Upstream lacks this rule: the
        # workers of a preempted MPIJob ran again, and its launcher did not.
        rule("batch", ["jobs/status"], ("update",)),
        rule(GROUP, ["mpijobs", "mpijobs/finalizers", "mpijobs/status"], ALL),
        rule("coordination.k8s.io", ["leases"], ALL),
        rule("scheduling.volcano.sh", ["podgroups", "queues"], ALL),
        rule("scheduling.x-k8s.io", ["podgroups"], ALL),
        rule("scheduling.k8s.io", ["priorityclasses"], ("get", "list", "watch")),
    ]
    return OPERATOR.access(rules)


def deployment(settings: Settings, *, placement: dict[str, Any], gang_scheduler: str | None) -> dict[str, Any]:
    """The operator.

    Args:
        settings: Settings of the add-on.
        placement: `nodeSelector` and `tolerations` of its pods.
        gang_scheduler: Scheduler of the jobs' pods, for which it creates PodGroups; None for the default scheduler.
    """
    gang = [f"--gang-scheduling={gang_scheduler}"] if gang_scheduler else []
    container = {
        "image": MANIFESTS["mpi-operator"].image,
        "args": [f"--lock-namespace={OPERATOR.namespace}", *gang],
        "ports": [{"containerPort": HEALTH_PORT, "name": "health", "protocol": "TCP"}],
        # Healthy as long as it is the leader or waits for its turn (cmd/mpi-operator/app/server.go, v0.8.2).
        "livenessProbe": {"httpGet": {"path": "/healthz", "port": HEALTH_PORT}, "initialDelaySeconds": 15},
        "readinessProbe": {"httpGet": {"path": "/healthz", "port": HEALTH_PORT}, "periodSeconds": 15},
        "securityContext": {"readOnlyRootFilesystem": True},
    }
    return OPERATOR.deployment(container, replicas=settings.replicas, placement=placement)


class MpiOperator(AddOn[Settings]):
    """The CRD, the operator and its permissions."""

    name = "mpi-operator"
    software = MANIFESTS["mpi-operator"]
    controllers = (Controller(account=NAME, makes=("Job", "Pod")),)

    def boundaries(self, _facts: AddOnFacts) -> Mapping[str, Mapping[str, Any]]:
        """Those of the operator."""
        return access()

    def parts(self, context: AddOnContext) -> Parts:
        """Only manifests, no release."""
        operator = deployment(
            self.settings,
            placement=context.placement,
            gang_scheduler="volcano" if context.addons.has(Volcano) else None,
        )
        return Parts(
            before={"crd-mpijobs": definition(), **self.boundaries(context)},
            objects={
                "operator": operator,
                **({"budget": OPERATOR.budget()} if keeps_one(self.settings.replicas) else {}),
            },
        )

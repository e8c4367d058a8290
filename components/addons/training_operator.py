"""Training operator v1: PyTorchJob, TFJob and similar kinds, for code that still needs them. Its project publishes
kustomize YAML and no chart.

Facts of v1.9.4 (github.com/kubeflow/trainer, branch release-1.9, 2026-08-18): names of objects, ports, flags, webhook
paths, permissions. It is the last release of version 1; Kubeflow Trainer v2 is maintained.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from components.addons.kubeflow_crds import GROUP, KINDS, JobKind, definition
from components.base.addon import AddOn, AddOnContext, AddOnFacts, Parts
from components.base.controllers import Controller
from components.base.operator import ALL, Operator, rule
from components.base.placement import keeps_one
from spec.catalog.software import MANIFESTS
from spec.settings.addons.batch import TrainingOperator as Settings
from spec.settings.addons.batch import Volcano

NAMESPACE: Final = "kubeflow"
NAME: Final = "training-operator"
SECRET: Final = "training-operator-webhook-cert"  # noqa: S105 - a name; the operator writes the certificate itself
LABELS: Final = {"app.kubernetes.io/name": NAME, "control-plane": "kubeflow-training-operator"}
OPERATOR: Final = Operator(NAME, NAMESPACE, LABELS)


def access(kinds: Sequence[JobKind]) -> dict[str, dict[str, Any]]:
    """Service account, ClusterRole and ClusterRoleBinding.

    Upstream's rules without those that only its MPIJob needs: ConfigMaps, service accounts, roles, `pods/exec`.
    """
    own = [f"{kind.plural}{part}" for kind in kinds for part in ("", "/status", "/finalizers")]
    rules = [
        rule("", ["events", "pods", "services"], ALL),
        # For its own certificate: a watch applies to the kind, so it can't be limited to one name.
        rule("", ["secrets"], ["get", "list", "update", "watch"]),
        rule("admissionregistration.k8s.io", ["validatingwebhookconfigurations"], ["get", "list", "update", "watch"]),
        rule("autoscaling", ["horizontalpodautoscalers"], ALL),
        rule("networking.k8s.io", ["networkpolicies"], ALL),
        rule("coordination.k8s.io", ["leases"], ALL),
        rule(GROUP, own, ALL),
        rule("scheduling.volcano.sh", ["podgroups"], ALL),
        rule("scheduling.x-k8s.io", ["podgroups"], ALL),
    ]
    return OPERATOR.access(rules)


def certificate() -> dict[str, Any]:
    """The empty Secret that the operator fills."""
    return OPERATOR.manifest("v1", "Secret", name=SECRET)


def service() -> dict[str, Any]:
    """Metrics and webhook."""
    ports = [
        {"name": "monitoring-port", "port": 8080, "targetPort": 8080},
        {"name": "webhook-server", "port": 443, "targetPort": 9443, "protocol": "TCP"},
    ]
    return {**OPERATOR.manifest("v1", "Service"), "spec": {"ports": ports, "selector": LABELS, "type": "ClusterIP"}}


def deployment(
    settings: Settings, kinds: Sequence[JobKind], *, placement: dict[str, Any], gang_scheduler: str | None
) -> dict[str, Any]:
    """The operator, only for these kinds: a missing CRD keeps it from starting.

    Args:
        settings: Settings of the add-on.
        kinds: Kinds that it serves.
        placement: `nodeSelector` and `tolerations` of its pods.
        gang_scheduler: Scheduler of the jobs' pods, for which it creates PodGroups; None for the default scheduler.
    """
    gang = [f"--gang-scheduler-name={gang_scheduler}"] if gang_scheduler else []
    field = {"fieldRef": {"fieldPath": "metadata.namespace"}}
    container = {
        "image": MANIFESTS["training-operator"].image,
        "command": ["/manager"],
        "args": ["--leader-elect", *(f"--enable-scheme={kind.singular}" for kind in kinds), *gang],
        "env": [
            {"name": "MY_POD_NAMESPACE", "valueFrom": field},
            {"name": "MY_POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        ],
        "ports": [{"containerPort": 8080}, {"containerPort": 9443, "name": "webhook-server", "protocol": "TCP"}],
        "livenessProbe": {"httpGet": {"path": "/healthz", "port": 8081}, "initialDelaySeconds": 15},
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": 8081}, "initialDelaySeconds": 10},
        "volumeMounts": [{"name": "cert", "mountPath": "/tmp/k8s-webhook-server/serving-certs", "readOnly": True}],  # noqa: S108
    }
    volumes = [{"name": "cert", "secret": {"secretName": SECRET, "defaultMode": 420}}]
    return OPERATOR.deployment(container, replicas=settings.replicas, placement=placement, volumes=volumes)


def webhooks(kinds: Sequence[JobKind]) -> dict[str, Any]:
    """The validating webhook for jobs. The operator injects its CA bundle."""
    checks = [
        {
            "name": f"validator.{kind.singular}.training-operator.kubeflow.org",
            "admissionReviewVersions": ["v1"],
            "clientConfig": {
                "service": {"name": NAME, "namespace": NAMESPACE, "path": f"/validate-kubeflow-org-v1-{kind.singular}"}
            },
            "failurePolicy": "Fail",
            "sideEffects": "None",
            "rules": [
                {
                    "apiGroups": [GROUP],
                    "apiVersions": ["v1"],
                    "operations": ["CREATE", "UPDATE"],
                    "resources": [kind.plural],
                }
            ],
        }
        for kind in kinds
    ]
    name = "validator.training-operator.kubeflow.org"
    kind = "ValidatingWebhookConfiguration"
    base = OPERATOR.manifest("admissionregistration.k8s.io/v1", kind, name=name, namespaced=False)
    return {**base, "webhooks": checks}


class TrainingOperator(AddOn[Settings]):
    """CRDs of the configured kinds, the operator, and the validating webhook."""

    name = "training-operator"
    software = MANIFESTS["training-operator"]
    controllers = (Controller(account=NAME, makes=("Pod",)),)

    def boundaries(self, _facts: AddOnFacts) -> Mapping[str, Mapping[str, Any]]:
        """Those of the operator, for its kinds only."""
        return access([KINDS[name] for name in self.settings.kinds])

    def parts(self, context: AddOnContext) -> Parts:
        """Only manifests, no release."""
        kinds = [KINDS[name] for name in self.settings.kinds]
        crds: dict[str, Any] = {f"crd-{kind.plural}": definition(kind) for kind in kinds}
        operator = deployment(
            self.settings,
            kinds,
            placement=context.placement,
            gang_scheduler="volcano" if context.addons.has(Volcano) else None,
        )
        return Parts(
            before={**crds, **self.boundaries(context), "certificate": certificate(), "service": service()},
            objects={
                "operator": operator,
                "webhook": webhooks(kinds),
                **({"budget": OPERATOR.budget()} if keeps_one(self.settings.replicas) else {}),
            },
        )

"""Training operator v1: PyTorchJob, TFJob and similar kinds, for code that still needs them. Its project publishes
kustomize YAML and no chart.

Facts of v1.9.4 (github.com/kubeflow/trainer, branch release-1.9, 2026-08-18): names of objects, ports, flags, webhook
paths, permissions. It is the last release of version 1; Kubeflow Trainer v2 is maintained.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from components.addons.kubeflow_crds import GROUP, KINDS, JobKind, definition
from components.base.addon import AddOn, AddOnContext, Parts
from components.base.controllers import Controller
from components.base.placement import keeps_one, sized, zone_spread
from spec.catalog.software import MANIFESTS
from spec.settings.addons.batch import TrainingOperator as Settings
from spec.settings.addons.batch import Volcano
from spec.settings.platform import Platform

NAMESPACE: Final = "kubeflow"
NAME: Final = "training-operator"
SECRET: Final = "training-operator-webhook-cert"  # noqa: S105 - a name; the operator writes the certificate itself
LABELS: Final = {"app.kubernetes.io/name": NAME, "control-plane": "kubeflow-training-operator"}
_RBAC: Final = "rbac.authorization.k8s.io"
_ALL: Final = ("create", "delete", "get", "list", "patch", "update", "watch")


def access(kinds: Sequence[JobKind]) -> dict[str, dict[str, Any]]:
    """Service account, ClusterRole and ClusterRoleBinding.

    Upstream's rules without those that only its MPIJob needs: ConfigMaps, service accounts, roles, `pods/exec`.
    """
    own = [f"{kind.plural}{part}" for kind in kinds for part in ("", "/status", "/finalizers")]
    rules = [
        _rule("", ["events", "pods", "services"], _ALL),
        # For its own certificate: a watch applies to the kind, so it can't be limited to one name.
        _rule("", ["secrets"], ["get", "list", "update", "watch"]),
        _rule("admissionregistration.k8s.io", ["validatingwebhookconfigurations"], ["get", "list", "update", "watch"]),
        _rule("autoscaling", ["horizontalpodautoscalers"], _ALL),
        _rule("networking.k8s.io", ["networkpolicies"], _ALL),
        _rule("coordination.k8s.io", ["leases"], _ALL),
        _rule(GROUP, own, _ALL),
        _rule("scheduling.volcano.sh", ["podgroups"], _ALL),
        _rule("scheduling.x-k8s.io", ["podgroups"], _ALL),
    ]
    return {
        "account": _object("v1", "ServiceAccount"),
        "role": {**_object(f"{_RBAC}/v1", "ClusterRole", namespaced=False), "rules": rules},
        "binding": {
            **_object(f"{_RBAC}/v1", "ClusterRoleBinding", namespaced=False),
            "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": NAME},
            "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE}],
        },
    }


def certificate() -> dict[str, Any]:
    """The empty Secret that the operator fills."""
    return _object("v1", "Secret", name=SECRET)


def service() -> dict[str, Any]:
    """Metrics and webhook."""
    ports = [
        {"name": "monitoring-port", "port": 8080, "targetPort": 8080},
        {"name": "webhook-server", "port": 443, "targetPort": 9443, "protocol": "TCP"},
    ]
    return {**_object("v1", "Service"), "spec": {"ports": ports, "selector": LABELS, "type": "ClusterIP"}}


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
        "name": NAME,
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
        "resources": sized("50m", "256Mi"),
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "runAsNonRoot": True,
            "runAsUser": 65532,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "volumeMounts": [{"name": "cert", "mountPath": "/tmp/k8s-webhook-server/serving-certs", "readOnly": True}],  # noqa: S108
    }
    pod = {
        "serviceAccountName": NAME,
        "containers": [container],
        "volumes": [{"name": "cert", "secret": {"secretName": SECRET, "defaultMode": 420}}],
        **zone_spread(LABELS),
        **placement,
    }
    return {
        **_object("apps/v1", "Deployment"),
        "spec": {
            "replicas": settings.replicas,
            "selector": {"matchLabels": LABELS},
            "template": {"metadata": {"labels": LABELS}, "spec": pod},
        },
    }


def budget() -> dict[str, Any]:
    """A PodDisruptionBudget that keeps one replica."""
    spec = {"minAvailable": 1, "selector": {"matchLabels": LABELS}}
    return {**_object("policy/v1", "PodDisruptionBudget"), "spec": spec}


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
    base = _object("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", name=name, namespaced=False)
    return {**base, "webhooks": checks}


def _rule(group: str, resources: Sequence[str], verbs: Sequence[str]) -> dict[str, Any]:
    return {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}


def _object(api_version: str, kind: str, *, name: str = NAME, namespaced: bool = True) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name, "labels": dict(LABELS)}
    if namespaced:
        metadata["namespace"] = NAMESPACE
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata}


class TrainingOperator(AddOn[Settings]):
    """CRDs of the configured kinds, the operator, and the validating webhook."""

    name = "training-operator"
    software = MANIFESTS["training-operator"]
    controllers = (Controller(account=NAME, makes=("Pod",)),)

    def boundaries(self, _platform: Platform) -> Mapping[str, Mapping[str, Any]]:
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
            gang_scheduler="volcano" if context.platform.addons.has(Volcano) else None,
        )
        return Parts(
            before={**crds, **self.boundaries(context.platform), "certificate": certificate(), "service": service()},
            objects={
                "operator": operator,
                "webhook": webhooks(kinds),
                **({"budget": budget()} if keeps_one(self.settings.replicas) else {}),
            },
        )

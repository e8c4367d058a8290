"""Autoscaling of models down to zero: by metrics and events with KEDA (keda.sh), by requests with Knative Serving
(knative.dev). Endpoint pickers, of which each model has its own.

KServe needs Knative only for its mode `Knative`. Its operator installs Kourier as ingress, not Istio: Kourier serves
Knative's routes and nothing else.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from components.base.addon import AddOn, AddOnContext, AddOnFacts, ChartAddOn, Parts
from components.base.controllers import Controller
from components.base.placement import keeps_one, uncapped
from components.tenancy.network_policies import MONITORING
from components.tenancy.roles import picker_role_manifest
from spec.catalog.software import CHARTS, MANIFESTS
from spec.settings.addons import serving
from spec.teams import labels


class Keda(ChartAddOn[serving.Keda]):
    """Operator, metrics server and webhook. It is the cluster's only external metrics server."""

    name = "keda"
    software = CHARTS["keda"]
    controllers = (Controller(account="keda-operator", makes=("Job",)),)

    def boundaries(self, facts: AddOnFacts) -> Mapping[str, Mapping[str, Any]]:
        """What its pods may reach."""
        return {"egress": egress(facts.private_cidrs)}

    def values(self, context: AddOnContext) -> dict[str, Any]:
        """Values of the chart that differ from its defaults; scalers report the cluster's name."""
        replicas = self.settings.replicas
        budget = {"minAvailable": 1} if keeps_one(replicas) else {}
        measured = {"enabled": context.monitored, "serviceMonitor": {"enabled": context.monitored}}
        # Their tokens would otherwise read the Secrets of every namespace (keda v2.20.2, pkg/scaling/resolver).
        restricted = {"restrict": {"secret": True}}
        return {
            "clusterName": context.cluster.name,
            "operator": {"replicaCount": replicas},
            "metricsServer": {"replicaCount": replicas},
            # The webhook fails open: the operator then reports an invalid scaler instead.
            "webhooks": {"replicaCount": replicas},
            "podDisruptionBudget": {"operator": budget, "metricServer": budget, "webhooks": budget},
            "resources": {
                "operator": uncapped("50m", "256Mi"),
                "metricServer": uncapped("50m", "128Mi"),
                "webhooks": uncapped("10m", "64Mi"),
            },
            "permissions": {"operator": restricted, "metricServer": restricted},
            **context.placement,
            "prometheus": {"operator": measured, "metricServer": measured, "webhooks": measured},
        }


def egress(private: Sequence[str]) -> dict[str, Any]:
    """KEDA asks Prometheus, the API server, and AWS through endpoints in the VPC or its peers: nothing outside gets its
    token, whatever a trigger says. The API server is asked by its Service address, which no selector covers. The
    chart's own policy allows every pod of the cluster, and no address outside a pod, so not the API server."""
    dns = {
        "namespaceSelector": {"matchLabels": {labels.NAMESPACE: "kube-system"}},
        "podSelector": {"matchLabels": {"k8s-app": "kube-dns"}},
    }
    prometheus = {
        "namespaceSelector": {"matchLabels": {labels.NAMESPACE: MONITORING}},
        "podSelector": {"matchLabels": {"app.kubernetes.io/name": "prometheus"}},
    }
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "egress", "namespace": Keda.namespace.name},
        "spec": {
            "podSelector": {},
            "policyTypes": ["Egress"],
            "egress": [
                {"to": [{"podSelector": {}}]},
                {"to": [dns], "ports": [{"protocol": protocol, "port": 53} for protocol in ("UDP", "TCP")]},
                {"to": [prometheus], "ports": [{"protocol": "TCP", "port": 9090}]},
                {
                    "to": [{"ipBlock": {"cidr": cidr}} for cidr in sorted(private)],
                    "ports": [{"protocol": "TCP", "port": 443}],
                },
            ],
        },
    }


class EndpointPicker(AddOn[serving.EndpointPicker]):
    """The role that pickers have in namespaces for serving. Their pods come with their models."""

    name = "endpoint-picker"
    software = MANIFESTS["endpoint-picker"]

    def boundaries(self, _facts: AddOnFacts) -> Mapping[str, Mapping[str, Any]]:
        """The role."""
        return {"role": picker_role_manifest()}

    def parts(self, context: AddOnContext) -> Parts:
        """The role alone."""
        return Parts(before=self.boundaries(context))


SERVING: Final = "1.21.1"
"""Version that the operator installs: the one that KServe is tested with (kserve/kserve, kserve-deps.env)."""
_DEPLOYMENTS: Final = (
    "activator",
    "autoscaler",
    "controller",
    "webhook",
    "net-kourier-controller",
    "3scale-kourier-gateway",
)


class Knative(ChartAddOn[serving.Knative]):
    """The operator, and the KnativeServing resource that it reconciles.

    The operator installs Knative into its own namespace, too; activator and webhooks run without root.
    """

    name = "knative"
    software = CHARTS["knative-operator"]

    def values(self, context: AddOnContext) -> dict[str, Any]:  # noqa: ARG002 - it doesn't depend on the context
        """The chart's defaults."""
        return {}

    def objects(self, context: AddOnContext) -> dict[str, Mapping[str, Any]]:
        """The KnativeServing resource, with Kourier (knative.dev, "Configure Knative Serving CRDs")."""
        serving = {
            "apiVersion": "operator.knative.dev/v1beta1",
            "kind": "KnativeServing",
            "metadata": {"name": "knative-serving", "namespace": self.namespace.name},
            "spec": {
                "version": SERVING,
                "ingress": {"kourier": {"enabled": True}},
                "config": {
                    "network": {"ingress-class": "kourier.ingress.networking.knative.dev"},
                    # KServe schedules a model's pods on GPU nodes and mounts volumes in them.
                    "features": {
                        "kubernetes.podspec-nodeselector": "enabled",
                        "kubernetes.podspec-tolerations": "enabled",
                        "kubernetes.podspec-persistent-volume-claim": "enabled",
                        "kubernetes.podspec-persistent-volume-write": "enabled",
                    },
                },
                "high-availability": {"replicas": self.settings.replicas},
                "workloads": [{"name": name, **context.placement} for name in _DEPLOYMENTS],
            },
        }
        return {"serving": serving}

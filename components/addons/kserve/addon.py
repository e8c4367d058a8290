"""KServe as Helm releases, CRDs first, with serving runtimes for the pools of the stack, and one load balancer for all
models, with the platform's certificate.

To an Ingress KServe copies the annotations of the InferenceService and nothing else (kserve v0.20.0,
`createRawIngress`). So what concerns the whole load balancer is in the parameters of the class, which override
annotations: its listener on 443 follows from the certificate, and a common group makes it one
(aws-load-balancer-controller v3.5.0, pkg/ingress/model_build_listener.go and group_loader.go).
"""

from typing import Any, Final

from components.addons.ingress import CLASS as GATEWAY_CLASS
from components.addons.kserve.runtimes import runtimes
from components.base.addon import AddOn, AddOnContext, ChartRelease, Parts
from components.base.controllers import Controller
from components.base.placement import keeps_one, uncapped
from spec.catalog.software import CHARTS
from spec.settings.addons.serving import Kserve as Settings

NAMESPACE: Final = "kserve"
NAME: Final = "models"  # name of the IngressClass and its group, and of the Gateway and its configuration
ELB: Final = "elbv2.k8s.aws"
GATEWAY: Final = "gateway.k8s.aws"
SSL_POLICY: Final = "ELBSecurityPolicy-TLS13-1-2-2021-06"
"""TLS 1.2 and 1.3, the policy that AWS recommends (Elastic Load Balancing, "Security policies for your Application Load
Balancer", 2026-11); the controller's default also accepts TLS 1.0."""
ANSWERS: Final = "200-499"
"""Every answer but an error of the server. The path differs from server to server, so the load balancer only asks
whether a server answers; a pod that is not ready is no target."""


def manifests(settings: Settings) -> dict[str, dict[str, Any]]:
    """Objects of the chosen ingress, by key."""
    if settings.ingress == "alb":
        return {"ingress-class": ingress_class(), "ingress-params": class_params(settings)}
    if settings.ingress == "gateway":
        return {
            "gateway": gateway(settings),
            "gateway-load-balancer": load_balancer(settings),
            "gateway-targets": targets(),
        }
    return {}


def ingress_class() -> dict[str, Any]:
    """The class of the Ingresses that KServe creates."""
    parameters = {"apiGroup": ELB, "kind": "IngressClassParams", "name": NAME}
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "IngressClass",
        "metadata": {"name": NAME},
        "spec": {"controller": "ingress.k8s.aws/alb", "parameters": parameters},
    }


def class_params(settings: Settings) -> dict[str, Any]:
    """The load balancer of these Ingresses."""
    arns = list(settings.certificate_arn)
    secure = {"certificateArn": arns, "sslPolicy": SSL_POLICY} if settings.https and arns else {}
    return {
        "apiVersion": f"{ELB}/v1beta1",
        "kind": "IngressClassParams",
        "metadata": {"name": NAME},
        "spec": {"group": {"name": NAME}, "scheme": settings.scheme, **secure},
    }


def gateway(settings: Settings) -> dict[str, Any]:
    """The Gateway that all models share; each InferenceService attaches an HTTPRoute."""
    port, protocol = (443, "HTTPS") if settings.https else (80, "HTTP")
    listener = {
        "name": "models",
        "hostname": f"*.{settings.ingress_domain}",
        "port": port,
        "protocol": protocol,
        "allowedRoutes": {"namespaces": {"from": "All"}},
    }
    configured = {"group": GATEWAY, "kind": "LoadBalancerConfiguration", "name": NAME}
    return {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "Gateway",
        "metadata": {"name": NAME, "namespace": NAMESPACE},
        "spec": {
            "gatewayClassName": GATEWAY_CLASS,
            "infrastructure": {"parametersRef": configured},
            "listeners": [listener],
        },
    }


def load_balancer(settings: Settings) -> dict[str, Any]:
    """The load balancer of the Gateway. Its first certificate is the default one of the listener."""
    listeners: list[dict[str, Any]] = []
    if settings.https and settings.certificate_arn:
        first, *others = settings.certificate_arn
        more = {"certificates": others} if others else {}
        listeners = [{"protocolPort": "HTTPS:443", "defaultCertificate": first, "sslPolicy": SSL_POLICY, **more}]
    return {
        **_of_gateway("LoadBalancerConfiguration"),
        "spec": {
            "scheme": settings.scheme,
            "defaultTargetGroupConfiguration": {"name": NAME},
            **({"listenerConfigurations": listeners} if listeners else {}),
        },
    }


def targets() -> dict[str, Any]:
    """Health check of all models behind the Gateway, whose routes have no annotations for it."""
    check = {"healthCheckPath": "/", "healthCheckProtocol": "HTTP", "matcher": {"httpCode": ANSWERS}}
    return {
        **_of_gateway("TargetGroupConfiguration"),
        "spec": {"defaultConfiguration": {"targetType": "ip", "healthCheckConfig": check}},
    }


def _of_gateway(kind: str) -> dict[str, Any]:
    return {"apiVersion": f"{GATEWAY}/v1", "kind": kind, "metadata": {"name": NAME, "namespace": NAMESPACE}}


CONTROLLER: Final = "kserve-controller-manager"
CPU_LIMIT: Final = "4"  # more than the controller uses when it reconciles hundreds of models


class Kserve(AddOn[Settings]):
    """CRDs, controller, runtimes, and the load balancer of models."""

    name = "kserve"
    software = CHARTS["kserve-resources"]
    controllers = (Controller(account=CONTROLLER, makes=("Ingress",)),)

    def parts(self, context: AddOnContext) -> Parts:
        """Two releases, the CRDs first, and the runtimes."""
        chart_values = values(self.settings, region=context.cluster.region, placement=context.placement)
        serving = runtimes(context.pools, self.settings.runtimes)
        objects = {f"runtime-{name}": manifest for name, manifest in serving.items()}
        objects |= manifests(self.settings)
        if keeps_one(self.settings.replicas):
            objects |= replicated(self.settings.replicas)
        return Parts(
            releases=[
                ChartRelease(ref=CHARTS["kserve-crd"], release_name="kserve-crd", values={}, crds_only=True),
                ChartRelease(ref=self.software, release_name="kserve", values=chart_values),
            ],
            objects=objects,
        )


def values(settings: Settings, *, region: str, placement: dict[str, Any]) -> dict[str, Any]:
    """Values of the chart kserve-resources (v0.20.0) that differ from its defaults.

    Args:
        settings: Settings of the add-on.
        region: AWS Region of the model buckets.
        placement: `nodeSelector` and `tolerations` of its pods.
    """
    return {
        "kserve": {
            "controller": {
                "deploymentMode": settings.default_deployment_mode,
                "gateway": _ingress(settings),
                # The chart's limits (0.1 CPU, 300 MiB) are too small for a few hundred models. Its base manifest has a
                # CPU limit as well, which values can replace and not remove (templates/_utils.tpl, deepMerge).
                "resources": {
                    "requests": {"cpu": "100m", "memory": "512Mi"},
                    "limits": {"cpu": CPU_LIMIT, "memory": "512Mi"},
                },
                "rbacProxy": {"resources": uncapped("10m", "64Mi")},
                **placement,
            },
            "storage": {
                # The storage initializer, which downloads a model before its server starts: it buffers more for a
                # larger model.
                "resources": {"requests": {"cpu": "500m", "memory": "2Gi"}, "limits": {"cpu": "4", "memory": "8Gi"}},
                "s3": {"region": region, "useHttps": "1", "verifySSL": "1", "useVirtualBucket": "true"},
            },
        }
    }


def _ingress(settings: Settings) -> dict[str, Any]:
    """Ingress of the models: an Ingress of class `models`, a Gateway, or neither."""
    by_gateway = settings.ingress == "gateway"
    gateway: dict[str, Any] = {"enableGatewayApi": by_gateway}
    if by_gateway:
        gateway["kserveGateway"] = f"{NAMESPACE}/{NAME}"
    if settings.ingress == "alb" and settings.default_deployment_mode == "Standard":
        gateway["className"] = NAME
    return {
        "domain": settings.ingress_domain,
        "urlScheme": "https" if settings.https else "http",
        # There is no Istio: in Knative mode Kourier replaces it.
        "disableIstioVirtualHost": True,
        "disableIngressCreation": settings.ingress == "none",
        "ingressGateway": gateway,
    }


def replicated(replicas: int) -> dict[str, dict[str, Any]]:
    """Replicas of the controller, one of them the leader: its webhooks fail closed for InferenceServices and pods.

    The chart has no value for it, and a Deployment without `replicas` belongs to its autoscaler. One with equal bounds
    needs no metrics: below the minimum it scales before it asks for any (kubernetes, pkg/controller/podautoscaler,
    `reconcileAutoscaler`; 1.36).
    """
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": CONTROLLER}
    return {
        "replicas": {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": CONTROLLER, "namespace": NAMESPACE},
            "spec": {"scaleTargetRef": target, "minReplicas": replicas, "maxReplicas": replicas},
        },
        "budget": {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": CONTROLLER, "namespace": NAMESPACE},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"control-plane": CONTROLLER}}},
        },
    }

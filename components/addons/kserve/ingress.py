"""How requests reach models: one load balancer for all of them, with the platform's certificate.

To an Ingress KServe copies the annotations of the InferenceService and nothing else (kserve v0.20.0,
`createRawIngress`). So what concerns the whole load balancer is in the parameters of the class, which override
annotations: its listener on 443 follows from the certificate, and a common group makes it one
(aws-load-balancer-controller v3.5.0, pkg/ingress/model_build_listener.go and group_loader.go).
"""

from __future__ import annotations

from typing import Any, Final

from components.addons.gateway_api import CLASS as GATEWAY_CLASS
from spec.settings.addons.serving import Kserve as Settings

NAMESPACE: Final = "kserve"
NAME: Final = "models"
"""Name of the IngressClass and its group, and of the Gateway and its configuration."""
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
        listeners = [
            {"protocolPort": "HTTPS:443", "defaultCertificate": first, "sslPolicy": SSL_POLICY, **more},
        ]
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

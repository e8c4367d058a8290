"""Settings of ingress: certificates, load balancers, the Gateway API."""

from typing import Annotated, ClassVar

from pydantic import Field

from spec.settings.addons.base import AddonSettings
from spec.settings.addons.observability import KubePrometheusStack

Replicas = Annotated[int, Field(ge=1, le=5)]
"""Replicas of a controller; with two, one node may fail at any time."""


class CertManager(AddonSettings):
    """Certificates for webhooks and endpoints, renewed before they expire (chart cert-manager)."""

    replicas: Replicas = 2
    """Replicas of its webhook, which fails closed: while none runs, no certificate can be requested."""


class LoadBalancerController(AddonSettings):
    """AWS load balancers for Ingresses, Services and Gateways (chart aws-load-balancer-controller)."""

    follows: ClassVar[tuple[type[AddonSettings], ...]] = (KubePrometheusStack,)

    replicas: Replicas = 2
    """Replicas of the controller; its webhooks fail closed for Ingresses."""
    web_acl: bool = False
    """Let Ingresses name a web ACL of AWS WAF; adds the IAM permissions for it."""


class GatewayApi(AddonSettings):
    """The CRDs of the Kubernetes Gateway API, standard channel (chart gateway-crds-helm), and a GatewayClass `alb`."""

    requires: ClassVar[tuple[type[AddonSettings], ...]] = (LoadBalancerController,)

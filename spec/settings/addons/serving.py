"""Settings of serving: models behind an address, as many as are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, ClassVar, Final, Literal

from pydantic import StringConstraints

from spec.settings.addons.base import AddonSettings
from spec.settings.addons.ingress import CertManager, GatewayApi, LoadBalancerController, Replicas
from spec.settings.addons.observability import KubePrometheusStack

Domain = Annotated[str, StringConstraints(pattern=r"^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$")]
"""A DNS name (RFC 1123) of at least two labels."""
Server = Literal["triton", "torchserve", "tensorflow", "huggingface", "vllm"]


class Keda(AddonSettings):
    """KEDA: replicas by metrics and events, also none (chart keda)."""

    follows: ClassVar[tuple[type[AddonSettings], ...]] = (KubePrometheusStack,)

    replicas: Replicas = 2
    """Pods each of operator, one of them leading, metrics server and webhook."""


class Knative(AddonSettings):
    """Knative Serving by its operator, with Kourier: replicas by requests, also none (chart knative-operator)."""

    replicas: Replicas = 2
    """Pods each of Knative's controllers and of its gateway."""


class Kserve(AddonSettings):
    """KServe: InferenceServices on runtimes that the platform provides (charts kserve-crd, kserve-resources)."""

    requires: ClassVar[tuple[type[AddonSettings], ...]] = (CertManager,)
    follows: ClassVar[tuple[type[AddonSettings], ...]] = (GatewayApi, Knative)

    default_deployment_mode: Literal["Standard", "Knative"] = "Standard"
    """How a model runs where it does not say: as a Deployment, or as a Knative Service, which needs `knative`."""
    ingress: Literal["alb", "gateway", "none"] = "alb"
    """How requests come in: an Ingress of class `alb`, the Gateway API (needs `gatewayApi`), or inside the cluster
    alone."""
    ingress_domain: Domain = "models.internal"
    """Domain of the models' addresses: `<name>-<namespace>.<domain>`."""
    https: bool = False
    """Whether addresses begin with https; the certificate of the domain must then stand in ACM."""
    runtimes: tuple[Server, ...] = ("triton", "torchserve", "tensorflow", "huggingface", "vllm")
    """Servers that models may choose from; each comes once for CPUs, where it can, and once for each pool of GPUs that
    is not for training."""


NEEDED_BY_INGRESS: Final[Mapping[str, type[AddonSettings]]] = MappingProxyType(
    {"alb": LoadBalancerController, "gateway": GatewayApi}
)
"""What must be on for each way in."""

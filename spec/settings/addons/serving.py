"""Settings of model serving: KEDA, endpoint pickers, Knative, KServe, Seldon Core."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field

from spec.settings.addons.base import AddonSettings
from spec.settings.addons.ingress import CertManager, GatewayApi, LoadBalancerController, Replicas
from spec.settings.addons.observability import KubePrometheusStack
from spec.settings.base import Model, WindowDuration, pattern

Domain = Annotated[
    str,
    pattern(
        r"^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$",
        rule="a domain has at least two labels, of lower-case letters, digits and dashes",
        fix="Write it like models.example.com.",
    ),
]
"""A DNS name (RFC 1123) of at least two labels."""
CertificateArn = Annotated[
    str,
    pattern(
        r"^arn:aws[a-z-]*:acm:[a-z0-9-]+:[0-9]{12}:certificate/[0-9a-f-]{36}$",
        rule="a certificate is the ARN of one in ACM",
        fix="Write it like arn:aws:acm:us-east-1:111122223333:certificate/12345678-1234-1234-1234-123456789012.",
    ),
]
License = Annotated[
    str,
    pattern(
        r"^BUSL-1\.1$",
        rule="Seldon Core 2 has the Business Source License 1.1: without a commercial licence, only non-profit "
        "educational institutions may use it in production",
        fix="If it allows your use, or you have another licence of Seldon, write `acceptLicense: BUSL-1.1`. Else "
        "remove seldonCore; kserve has the Apache License.",
    ),
]
"""A licence by its SPDX identifier (SeldonIO/seldon-core v2.10.2, LICENSE: "non-production use", and the Additional
Use Grant; read 2026-11)."""
Server = Literal["triton", "torchserve", "tensorflow", "huggingface", "vllm"]


class Keda(AddonSettings):
    """KEDA: autoscaling by metrics and events, down to zero (chart keda)."""

    follows: ClassVar[tuple[type[AddonSettings], ...]] = (KubePrometheusStack,)

    replicas: Replicas = 2
    """Replicas each of operator, one of them the leader, metrics server and webhook."""


class EndpointPicker(AddonSettings):
    """What endpoint pickers of the Gateway API Inference Extension need in namespaces for serving; each model has its
    own (`ModelDeployment`)."""


class Knative(AddonSettings):
    """Knative Serving with its operator and Kourier: autoscaling by requests, down to zero (chart knative-operator)."""

    replicas: Replicas = 2
    """Replicas each of Knative's controllers and of its gateway."""


class CanaryRollback(Model):
    """Canaries in KServe's Standard mode get no more requests once more of theirs fail than the program allows
    (`Canary.max_error_percent`). Needs kube-prometheus-stack."""

    window: WindowDuration = "5m"
    """Time over which requests are counted; looked at every minute."""
    min_requests: Annotated[int, Field(ge=1, le=1_000_000)] = 50
    """Minimum number of requests within this time by which a canary is judged."""


class Kserve(AddonSettings):
    """KServe: InferenceServices on runtimes that the platform provides (charts kserve-crd, kserve-resources)."""

    requires: ClassVar[tuple[type[AddonSettings], ...]] = (CertManager,)
    follows: ClassVar[tuple[type[AddonSettings], ...]] = (LoadBalancerController, GatewayApi, Knative)

    replicas: Replicas = 2
    """Replicas of the controller, one of them the leader; its webhooks fail closed for models and their pods."""

    default_deployment_mode: Literal["Standard", "Knative"] = "Standard"
    """How a model is deployed by default: as a Deployment, or as a Knative Service, which needs `knative`."""
    ingress: Literal["alb", "gateway", "none"] = "alb"
    """How requests reach models: an Ingress for each (needs `loadBalancerController`), the Gateway API (needs
    `gatewayApi`), or only from inside the cluster. All models share one load balancer."""
    ingress_domain: Domain = "models.internal"
    """Domain of the models' addresses: `<name>-<namespace>.<domain>`."""
    https: bool = False
    """Serve models over HTTPS, with `certificateArn`."""
    certificate_arn: tuple[CertificateArn, ...] = ()
    """Certificates of the load balancer, in ACM in the stack's Region, for `*.` and the domain; the first is the
    default."""
    scheme: Literal["internal", "internet-facing"] = "internal"
    """Whether the load balancer has addresses in the VPC only, or public ones."""
    runtimes: tuple[Server, ...] = ("triton", "torchserve", "tensorflow", "huggingface", "vllm")
    """Serving runtimes that models may choose from; each is installed once for CPUs, if it supports them, and once for
    each GPU pool that is not for training."""
    canary_rollback: CanaryRollback | None = None
    """Roll canaries back by their error rate; off if unset."""


NEEDED_BY_INGRESS: Final[Mapping[str, type[AddonSettings]]] = MappingProxyType(
    {"alb": LoadBalancerController, "gateway": GatewayApi}
)
"""Add-on that each kind of ingress needs."""


class SeldonCore(AddonSettings):
    """Seldon Core 2: Models that share Servers, in namespaces for serving (charts seldon-core-v2-crds,
    seldon-core-v2-setup)."""

    follows: ClassVar[tuple[type[AddonSettings], ...]] = (KubePrometheusStack,)
    example: ClassVar[Mapping[str, Any]] = MappingProxyType({"acceptLicense": "BUSL-1.1"})

    accept_license: License
    """`BUSL-1.1`: that you use it as the Business Source License 1.1 allows, which limits use in production, or have
    another licence of Seldon."""
    envoy_replicas: Replicas = 2
    """Replicas of Envoy in each namespace for serving: every request to a Model passes one."""
    model_volume_storage_gib: Annotated[int, Field(ge=1, le=16_384)] = 20
    """Volume of each pod of a Server, in GiB, for the Models that it has loaded."""

"""The platform, a pool and a team as components of a Pulumi package, for programs of other projects and languages.

Pulumi infers the package's schema from the annotations and docstrings here (pulumi.provider.experimental), and serves
the components over its plugin protocol: `package/PulumiPlugin.yaml`. It reads annotations as they are, so this module
has no `from __future__ import annotations`, which would make text of them.
"""

import inspect
import json
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final, TypedDict, TypeVar

import pulumi
from pulumi.provider import main
from pulumi.provider.experimental.component import ComponentProvider
from pydantic.alias_generators import to_camel, to_snake

from components.addons import gpu_software
from components.composition import alone, team_queue
from components.pools import gpu
from components.storage import claims
from infra import inputs, schema
from infra.inputs import whole
from infra.program import build
from spec.errors import SlipwayError
from spec.settings import load

NAME: Final = "slipway"
_Made = TypeVar("_Made")


class PlatformArgs(TypedDict):
    """Inputs of a platform."""

    settings: dict[str, Any]
    """The settings of an environment: what a stack file has below `slipway:platform`. No output of another resource."""


class Platform(pulumi.ComponentResource):
    """A machine-learning platform on Amazon EKS."""

    account_id: pulumi.Output[str]
    """AWS account."""
    region: pulumi.Output[str]
    """AWS Region."""
    cluster_name: pulumi.Output[str]
    """Name of the EKS cluster."""
    cluster_version: pulumi.Output[str]
    """Its Kubernetes minor version."""
    cluster_endpoint: pulumi.Output[str]
    """URL of its API server."""
    cluster_certificate_authority: pulumi.Output[str]
    """Certificate authority of its API server, base64 of PEM."""
    cluster_security_group_id: pulumi.Output[str]
    """The security group that EKS creates for control plane and nodes."""
    oidc_issuer: pulumi.Output[str]
    """URL of its issuer of tokens."""
    kubeconfig: pulumi.Output[str]
    """A kubeconfig that authenticates with `aws eks get-token`; it contains no credential."""
    kubeconfig_command: pulumi.Output[str]
    """Command that adds the cluster to a kubeconfig."""
    instance_profile: pulumi.Output[str]
    """Instance profile of Karpenter's nodes; empty without such pools."""
    vpc_id: pulumi.Output[str]
    """ID of the VPC."""
    private_subnet_ids: pulumi.Output[dict[str, str]]
    """Subnets of nodes by zone."""
    public_subnet_ids: pulumi.Output[dict[str, str]]
    """Subnets of NAT gateways and load balancers by zone."""
    pod_subnet_ids: pulumi.Output[dict[str, str]]
    """Subnets for pods only, by zone."""
    key_arn: pulumi.Output[str]
    """KMS key of buckets, file systems and volumes; empty without storage."""
    buckets: pulumi.Output[dict[str, str]]
    """Names of the buckets by purpose."""
    storage_classes: pulumi.Output[dict[str, str]]
    """StorageClasses by purpose: `block`, `shared`, `lustre`."""
    efs_id: pulumi.Output[str]
    """ID of the shared file system, if there is one."""
    lustre_id: pulumi.Output[str]
    """ID of the parallel file system, if there is one."""
    teams: pulumi.Output[dict[str, Any]]
    """Namespaces, queue and volume claims of each team."""

    def __init__(self, name: str, args: PlatformArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(f"{NAME}:index:Platform", name, {}, opts)
        data = whole(args["settings"])
        environment = data.get("environment") if isinstance(data, Mapping) else None
        stack = str(environment.get("name", "")) if isinstance(environment, Mapping) else ""
        settings = _made(lambda: load(data, stack=stack))
        for warning in settings.warnings:
            pulumi.log.warn(str(warning), self)
        outputs = build(settings.platform, self)
        for key, value in outputs.items():
            setattr(self, to_snake(key), pulumi.Output.from_input(value))
        self.register_outputs(dict(outputs))


_PARTS: Final[dict[str, tuple[Callable[..., Any], type, Callable[[Any], Any]]]] = {}
"""What makes a part, its inputs, and what is its output, by its name."""


class _Part(pulumi.ComponentResource):
    """A component for programs without a stack file, with its own inputs but for resources, which no other language can
    pass. Pools are given by their settings, and by their zones."""

    def __init__(self, name: str, args: Any, opts: pulumi.ResourceOptions | None = None) -> None:
        own, (key,) = type(self).__name__, inspect.get_annotations(type(self))
        super().__init__(f"{NAME}:index:{own}", name, {}, opts)
        (of, kind, output), child = _PARTS[own], pulumi.ResourceOptions(parent=self)
        made = _made(lambda: output(of(name, inputs.values(kind, args, name), child)))
        setattr(self, key, pulumi.Output.from_input(made))
        self.register_outputs({to_camel(key): made})

    def __init_subclass__(cls, of: Callable[..., Any], args: type, output: Callable[[Any], Any]) -> None:
        def make(self: Any, *given: Any, **named: Any) -> None:
            _Part.__init__(self, *given, **named)

        _PARTS[cls.__name__] = (of, args, output)
        make.__annotations__["args"] = inputs.typed(args)
        setattr(cls, "__init__", make)  # noqa: B010 - to mypy, the constructor of a class is no attribute


class GpuNodePool(_Part, of=gpu.GpuNodePool, args=gpu.GpuNodePoolArgs, output=lambda made: made.spec.name):
    """A pool of nodes that Karpenter makes when jobs need them, with MIG, sharing and EFA as its settings say."""

    name: pulumi.Output[str]
    """Name of its objects."""


class QueuedTeam(
    _Part, of=team_queue.QueuedTeam, args=team_queue.QueuedTeamArgs, output=lambda made: list(made.outputs.namespaces)
):
    """A team's namespaces with quota, roles and network policies, access entries of its members, and its queue."""

    namespaces: pulumi.Output[list[str]]
    """Its namespaces."""


class GpuSoftware(
    _Part, of=gpu_software.GpuSoftware, args=gpu_software.GpuSoftwareArgs, output=lambda made: made.releases
):
    """The GPU Operator and other device plugins, configured for MIG and sharing of these pools."""

    releases: pulumi.Output[list[str]]
    """Names of the Helm releases."""


class ModelStorage(_Part, of=claims.ModelStorage, args=claims.ModelStorageArgs, output=lambda made: list(made.claims)):
    """Volume claims in a namespace for models, checkpoints and data that buckets and file systems have."""

    names: pulumi.Output[list[str]]
    """Names of the claims."""


class CostGuards(_Part, of=alone.CostGuards, args=alone.CostGuardsArgs, output=lambda made: made.topic):
    """Budgets and anomaly detection, scheduled shutdown of pools and notebooks, and idle GPUs taken back."""

    topic: pulumi.Output[str]
    """ARN of the topic of messages; empty if nobody gets them."""


COMPONENTS: Final = (Platform, GpuNodePool, QueuedTeam, GpuSoftware, ModelStorage, CostGuards)


def _made(make: Callable[[], _Made]) -> _Made:
    """What a function makes. RunError ends the program with the message of a wrong setting and without a traceback."""
    try:
        return make()
    except SlipwayError as error:
        raise pulumi.RunError(str(error)) from None


class Package(ComponentProvider):
    """The components, with the types of their settings."""

    def __init__(self) -> None:
        # Without a version, a generated SDK has none that its language accepts.
        super().__init__(list(COMPONENTS), NAME, None, "0.0.0")
        found = json.loads(self.schema or "{}")
        found["types"] = {**found.get("types", {}), **schema.types(NAME)}
        given = found["resources"][f"{NAME}:index:Platform"]["inputProperties"]["settings"]
        del given["type"], given["additionalProperties"]
        given |= schema.reference(NAME, "Platform")
        for name, (_, kind, _) in _PARTS.items():
            inputs.describe(kind, found["resources"][f"{NAME}:index:{name}"]["inputProperties"], NAME)
        for one in inputs.NESTED:
            inputs.describe(one, found["types"][f"{NAME}:index:{inputs.named(one)}"]["properties"], NAME)
        self.schema = json.dumps(found)


def serve() -> None:
    """Serve the package until the engine ends it."""
    main(Package(), sys.argv[1:])

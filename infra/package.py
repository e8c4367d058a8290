"""The platform, a pool and a team as components of a Pulumi package, for programs of other projects and languages.

Pulumi infers the package's schema from the annotations and docstrings here (pulumi.provider.experimental), and serves
the components over its plugin protocol: `package/PulumiPlugin.yaml`. It reads annotations as they are, so this module
has no `from __future__ import annotations`, which would make text of them.
"""

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final, NotRequired, TypedDict, TypeVar

import pulumi
from pulumi.provider import main
from pulumi.provider.experimental.component import ComponentProvider
from pydantic.alias_generators import to_snake

from components.base.outputs import Cluster
from components.composition import team_queue
from components.pools import gpu
from infra import schema
from infra.program import build
from spec.errors import SlipwayError
from spec.pools.resolution import resolve
from spec.settings import load
from spec.settings.parts import alone
from spec.settings.pools import Pool
from spec.settings.zones import Place

NAME: Final = "slipway"
_SETTINGS: Final = {"Platform": "Platform", "GpuNodePool": "Pool", "QueuedTeam": "Team"}
"""Type of the input `settings`, by component."""
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


class ClusterArgs(TypedDict):
    """A cluster that exists: plain values, none of them an output of another resource."""

    name: str
    """Name of the EKS cluster."""
    account_id: str
    """AWS account, 12 digits."""
    region: str
    """AWS Region."""
    version: str
    """Kubernetes minor version."""


class GpuNodePoolArgs(TypedDict):
    """Inputs of a pool."""

    cluster: ClusterArgs
    """The cluster, which has Karpenter."""
    settings: dict[str, Any]
    """The pool, as in a stack file below `pools`. No output of another resource."""
    subnets: dict[str, pulumi.Input[str]]
    """ID of a subnet of nodes in each zone."""
    instance_profile: pulumi.Input[str]
    """Name of the instance profile of Karpenter's nodes."""
    pool: NotRequired[str]
    """Name of its objects and label of its nodes; the resource's name by default."""
    vpc_id: NotRequired[pulumi.Input[str]]
    """VPC of the subnets; required with EFA."""
    volume_key: NotRequired[pulumi.Input[str]]
    """KMS key of the nodes' volumes; the AWS managed key for EBS by default."""


class GpuNodePool(pulumi.ComponentResource):
    """A pool of nodes that Karpenter makes when jobs need them, with MIG, sharing and EFA as its settings say."""

    name: pulumi.Output[str]
    """Name of its objects."""

    def __init__(self, name: str, args: GpuNodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(f"{NAME}:index:GpuNodePool", name, {}, opts)
        given = {**args, "cluster": Cluster(**args["cluster"]), "settings": whole(args["settings"])}
        inputs: Any = {"pool": name, **given}
        child = pulumi.ResourceOptions(parent=self)
        made = _made(lambda: gpu.GpuNodePool(name, gpu.GpuNodePoolArgs(**inputs), child))
        self.name = pulumi.Output.from_input(made.spec.name)
        self.register_outputs({"name": self.name})


class QueuedTeamArgs(TypedDict):
    """Inputs of a team."""

    cluster: ClusterArgs
    """The cluster, which has Kueue."""
    settings: dict[str, Any]
    """The team, as in a stack file below `teams`. No output of another resource."""
    pools: dict[str, Any]
    """Pools of which it has shares, as in a stack file, by their names. No output of another resource."""
    zones: list[str]
    """Zones of the pools."""
    team: NotRequired[str]
    """Name of the team, its namespace and its queue; the resource's name by default."""
    flavors: NotRequired[dict[str, str]]
    """Names of ResourceFlavors that exist, by pool; for others one is made."""


class QueuedTeam(pulumi.ComponentResource):
    """A team's namespaces with quota, roles and network policies, access entries of its members, and its queue."""

    namespaces: pulumi.Output[list[str]]
    """Its namespaces."""

    def __init__(self, name: str, args: QueuedTeamArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(f"{NAME}:index:QueuedTeam", name, {}, opts)
        given: Any = {key: value for key, value in args.items() if key != "zones"}
        cluster, child = Cluster(**args["cluster"]), pulumi.ResourceOptions(parent=self)
        place = Place(zones=tuple(args["zones"]), version=cluster.version)

        def make() -> team_queue.QueuedTeam:
            pools = [resolve(key, alone(Pool, key, one), place) for key, one in whole(args["pools"]).items()]
            changed: Any = {"cluster": cluster, "pools": pools, "settings": whole(args["settings"])}
            return team_queue.QueuedTeam(name, team_queue.QueuedTeamArgs(**{**given, **changed}), child)

        self.namespaces = pulumi.Output.from_input(list(_made(make).outputs.namespaces))
        self.register_outputs({"namespaces": self.namespaces})


COMPONENTS: Final = (Platform, GpuNodePool, QueuedTeam)


def _made(make: Callable[[], _Made]) -> _Made:
    """What a function makes. RunError ends the program with the message of a wrong setting and without a traceback."""
    try:
        return make()
    except SlipwayError as error:
        raise pulumi.RunError(str(error)) from None


def whole(value: Any) -> Any:
    """The value with whole numbers as integers: the engine transports every number as a float."""
    if isinstance(value, Mapping):
        return {key: whole(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [whole(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


class Package(ComponentProvider):
    """The components, with the types of their settings."""

    def __init__(self) -> None:
        # Without a version, a generated SDK has none that its language accepts.
        super().__init__(list(COMPONENTS), NAME, None, "0.0.0")
        found = json.loads(self.schema or "{}")
        found["types"] = {**found.get("types", {}), **schema.types(NAME)}
        for name, settings in _SETTINGS.items():
            given = found["resources"][f"{NAME}:index:{name}"]["inputProperties"]
            given["settings"] = {"description": given["settings"]["description"], **schema.reference(NAME, settings)}
            if "pools" in given:
                given["pools"]["additionalProperties"] = schema.reference(NAME, "Pool")
        self.schema = json.dumps(found)


def serve() -> None:
    """Serve the package until the engine ends it."""
    main(Package(), sys.argv[1:])

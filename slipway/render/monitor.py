"""The engine's side of a run: answers each registration and look-up immediately, without providers or state.

A rendering asks no cloud: the answers are those of a network in which everything is right, with the IDs that the
settings name. What is wrong, a preview and `slipway doctor --aws` find.

It processes a registration as the engine does before calling a provider (pulumi v3.258.0,
pkg/resource/deploy/source_eval.go): it builds the URN, refuses duplicates, and applies inherited options.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any, Final, NoReturn, TypeAlias

from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import alias_pb2, engine_pb2, resource_pb2

from sandbox.rpc import wire
from sandbox.rpc.errors import ProviderError
from slipway.render import samples
from slipway.render.recording import (
    PROVIDER_PREFIX,
    STACK_TYPE,
    Options,
    RecordedResource,
    RenderError,
    Values,
    is_plain,
    make_urn,
    read,
    resource_type,
)
from spec.settings.existing import Existing
from spec.settings.found import BALANCER_TAGS, CNI_TAG
from spec.settings.found_cluster import nodes_in
from spec.settings.network import Nat
from spec.settings.platform import Platform
from spec.subnets import AWS_RESERVED

# Answers to the look-ups of an existing network, as the settings describe it.


Args: TypeAlias = Mapping[str, Any]
Answers: TypeAlias = Callable[[str, Args], dict[str, Any] | None]
_PUBLIC: Final = "rtb-public"
_PRIVATE: Final = "rtb-private"


def answers(platform: Platform) -> Answers:
    """A function that answers a look-up by token and arguments; None for others, and if no network exists."""
    existing = platform.network.existing
    if existing is None:
        return lambda _token, _args: None
    network = _Network(platform, existing)
    by_token = {
        "aws:eks/getCluster:getCluster": network.cluster,
        "aws:eks/getAddon:getAddon": lambda _: {},
        "aws:ec2/getVpc:getVpc": network.vpc,
        "aws:ec2/getSubnet:getSubnet": network.subnet,
        "aws:ec2/getSubnets:getSubnets": lambda _: {"ids": []},
        "aws:ec2/getRouteTables:getRouteTables": network.tables,
        "aws:ec2/getRouteTable:getRouteTable": network.table,
        "aws:ec2/getVpcEndpoint:getVpcEndpoint": network.endpoint,
    }
    return lambda token, args: by_token[token](args) if token in by_token else None


def looked_up(platform: Platform) -> dict[str, str]:
    """Regular expressions of what AWS may answer about a cluster that exists, by what a rendering has for it."""
    if platform.cluster.existing is None:
        return {}
    one = _sample(platform)
    return {
        one["endpoint"]: r"https://([\w.-]+\.(eks\.amazonaws\.com(\.cn)?|api\.aws)|127\.0\.0\.1:\d+)",
        one["certificateAuthority"]["data"]: "[0-9A-Za-z+/=]+",
    }


def _sample(platform: Platform) -> dict[str, Any]:
    kind, account = "aws:eks/cluster:Cluster", platform.account
    place = {"project": "", "stack": "", "account": account.id, "region": account.region}
    facts = samples.Facts(urn=kind, type=kind, logical_name="", inputs={"name": platform.cluster_name}, **place)
    return dict(samples.answer(facts)[1])


class _Network:
    def __init__(self, platform: Platform, existing: Existing) -> None:
        self._platform, self._settings = platform, platform.network
        ids = {zone: _id("subnet", "private", zone, platform.cluster_name) for zone in self._settings.zones}
        self._existing = nodes_in(existing, _id("vpc", platform.cluster_name), ids)

    def cluster(self, _: Args) -> dict[str, Any]:
        settings, one = self._platform.cluster, _sample(self._platform)
        vpc = {"vpcId": self._vpc_id, "subnetIds": [*self._existing.private_subnets.ids.values()]}
        return {
            **one,
            "status": "ACTIVE",
            "version": settings.version,
            "certificateAuthorities": [one["certificateAuthority"]],
            "kubernetesNetworkConfigs": [{"serviceIpv4Cidr": str(settings.service_ipv4_cidr)}],
            "accessConfigs": [{"authenticationMode": "API"}],
            "computeConfigs": [],
            "vpcConfig": {**one["vpcConfig"], **vpc},
        }

    def vpc(self, _: Args) -> dict[str, Any]:
        ranges = [one for one in (self._settings.cidr, self._settings.pod_cidr) if one is not None]
        return {
            "id": self._vpc_id,
            "cidrBlockAssociations": [{"cidrBlock": str(one), "state": "associated"} for one in ranges],
            "enableDnsSupport": True,
            "enableDnsHostnames": True,
            "ownerId": self._platform.account.id,
            "tags": dict(self._existing.vpc.tags),
        }

    def subnet(self, args: Args) -> dict[str, Any]:
        kind, zone = self._which(args)
        cidr = (self._settings.pod_cidr if kind == "pods" else None) or self._settings.cidr
        of_cni = {CNI_TAG: "1" if kind == "pods" else "0"} if self._settings.pod_cidr is not None else {}
        of_balancers = {BALANCER_TAGS[kind]: "1"} if kind in BALANCER_TAGS else {}
        return {
            "id": args.get("id") or _id("subnet", kind, zone, self._vpc_id),
            "vpcId": self._vpc_id,
            "availabilityZone": zone,
            "availableIpAddressCount": cidr.num_addresses - AWS_RESERVED,
            "cidrBlock": str(cidr),
            "tags": {**self._existing.kinds[kind].tags, **of_cni, **of_balancers},
        }

    def tables(self, args: Args) -> dict[str, Any]:
        values = {one["name"]: one["values"][0] for one in args.get("filters") or ()}
        subnet = values.get("association.subnet-id")
        public = self._existing.public_subnets
        zones = self._settings.zones
        of_public = {_id("subnet", "public", zone, self._vpc_id) for zone in zones}
        is_public = public is not None and subnet in {*public.ids.values(), *of_public}
        return {"ids": [_PUBLIC if is_public else _PRIVATE] if subnet is not None else []}

    def table(self, args: Args) -> dict[str, Any]:
        gateways = [{"cidrBlock": "0.0.0.0/0", "gatewayId": "igw-0"}]
        nats = [] if self._settings.nat is Nat.NONE else [{"cidrBlock": "0.0.0.0/0", "natGatewayId": "nat-0"}]
        return {"id": args["routeTableId"], "routes": gateways if args["routeTableId"] == _PUBLIC else nats}

    def endpoint(self, args: Args) -> dict[str, Any]:
        return {"privateDnsEnabled": True, "routeTableIds": [_PRIVATE], "vpcId": args.get("vpcId")}

    def _which(self, args: Args) -> tuple[str, str]:
        """Kind and zone of the subnet that the arguments select."""
        for kind, named in self._existing.kinds.items():
            for zone, id in named.ids.items():
                if id == args.get("id"):
                    return kind, zone
            if named.tags and named.tags == args.get("tags"):
                return kind, str(args["availabilityZone"])
        msg = f"no subnet of the settings has {dict(args)}"
        raise ValueError(msg)

    @property
    def _vpc_id(self) -> str:
        return self._existing.vpc.id or _id("vpc", str(sorted(self._existing.vpc.tags.items())))


def _id(kind: str, *of: str) -> str:
    return f"{kind}-{sha256('/'.join(of).encode()).hexdigest()[:17]}"


# Reads the options of a registration, including those inherited from the parent.


_READ: Final = frozenset(
    {"type", "name", "parent", "custom", "object", "provider", "providers", "protect", "retainOnDelete", "deletedWith"}
    | {"dependencies", "propertyDependencies", "deleteBeforeReplace", "deleteBeforeReplaceDefined", "ignoreChanges"}
    | {"replaceOnChanges", "additionalSecretOutputs", "aliases", "customTimeouts"}
    | {"acceptSecrets", "acceptResources", "accepts_byte_string", "supportsPartialValues", "supportsResultReporting"}
    | {"aliasSpecs", "sourcePosition", "stackTrace", "parentStackTraceHandle"}
)
"""Fields of a registration that are no option, that have a place in `Options`, or, in the last two lines, that say what
the SDK supports (pulumi v3.258.0, proto/pulumi/resource.proto, RegisterResourceRequest)."""


def options_of(request: resource_pb2.RegisterResourceRequest, parent: Options) -> Options:
    """Options of a registration with a parent.

    `protect`, `retainOnDelete` and `deletedWith` are inherited; so is the provider, if it has the resource's
    package (pulumi v3.258.0, pkg/resource/deploy/source_eval.go, inheritFromParent).
    """
    timeouts = {field.name: text for field, text in request.customTimeouts.ListFields()}
    by_property = {key: _sorted(one.urns) for key, one in sorted(request.propertyDependencies.items())}
    return Options(
        protect=request.protect if request.HasField("protect") else parent.protect,
        retain_on_delete=request.retainOnDelete if request.HasField("retainOnDelete") else parent.retain_on_delete,
        delete_before_replace=request.deleteBeforeReplace if request.deleteBeforeReplaceDefined else None,
        provider=_provider(request, parent),
        deleted_with=request.deletedWith or parent.deleted_with,
        dependencies=_sorted(request.dependencies),
        property_dependencies={key: urns for key, urns in by_property.items() if urns},
        ignore_changes=_sorted(request.ignoreChanges),
        replace_on_changes=_sorted(request.replaceOnChanges),
        additional_secret_outputs=_sorted(request.additionalSecretOutputs),
        aliases=tuple(_alias(alias) for alias in request.aliases),
        custom_timeouts=timeouts,
        others={one.name: str(value) for one, value in request.ListFields() if one.name not in _READ},
    )


def _provider(request: resource_pb2.RegisterResourceRequest, parent: Options) -> str | None:
    if not request.custom or request.type.startswith(PROVIDER_PREFIX):
        return None
    explicit = request.provider.rpartition("::")[0] or None
    if explicit is None and parent.provider is not None:
        package = request.type.partition(":")[0]
        return parent.provider if resource_type(parent.provider) == PROVIDER_PREFIX + package else None
    return explicit


def _alias(alias: alias_pb2.Alias) -> str | dict[str, Any]:
    if alias.WhichOneof("alias") == "urn":
        return alias.urn
    return {field.name: value for field, value in alias.spec.ListFields() if value}


def _sorted(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(texts)))


# The engine's side of a run: answers each registration immediately, without providers or state.


DEFAULT_ACCOUNT: Final = "123456789012"
DEFAULT_REGION: Final = "us-east-1"

_FEATURES: Final = (
    resource_pb2.RESOURCE_MONITOR_FEATURE_SECRETS,
    resource_pb2.RESOURCE_MONITOR_FEATURE_ALIAS_SPECS,
    resource_pb2.RESOURCE_MONITOR_FEATURE_DELETED_WITH,
)
"""Transforms and hooks need a callback server, so the SDK refuses them; resource references are sent as ids."""

_LEVELS: Final = {engine_pb2.INFO: "info", engine_pb2.WARNING: "warning", engine_pb2.ERROR: "error"}


class Monitor:
    """Records the SDK's requests. Method names are those of the engine's gRPC services."""

    def __init__(self, project: str, stack: str, *, preview: bool, answers: Answers | None = None) -> None:
        self.resources: dict[str, RecordedResource] = {}
        self.exports = Values({})
        self.messages: list[tuple[str, str]] = []
        self.project = project
        self.stack = stack
        self._preview = preview
        self._answers = answers

    def RegisterResource(  # noqa: N802 - the name of the RPC
        self, request: resource_pb2.RegisterResourceRequest
    ) -> resource_pb2.RegisterResourceResponse:
        """Record one registration and answer it."""
        urn = make_urn(self.stack, self.project, request.parent or None, request.type, request.name)
        if request.remote:
            _refuse(urn, "a remote component can't be rendered: a plugin creates its children. Use a local component")
        if urn in self.resources:
            _refuse(urn, "two resources have the same type, parent and name: rename one of them")
        parent = self.resources.get(request.parent)
        resource = RecordedResource(
            urn=urn,
            type=request.type,
            name=request.name,
            parent=request.parent or None,
            custom=request.custom,
            inputs=_read(urn, request.object),
            options=options_of(request, parent.options if parent else Options()),
        )
        identity, properties = self._answer(resource, request.object)
        self.resources[urn] = _with_outputs(resource, _read(urn, properties), identity)
        return resource_pb2.RegisterResourceResponse(
            urn=urn, id=identity, object=properties, unknown=request.custom and not self._preview
        )

    def RegisterResourceOutputs(  # noqa: N802
        self, request: resource_pb2.RegisterResourceOutputsRequest
    ) -> empty_pb2.Empty:
        """Keep the outputs that a component registers; those of the stack are the exports."""
        values = _read(request.urn, request.outputs)
        resource = self.resources[request.urn]
        self.resources[request.urn] = _with_outputs(resource, values)
        if resource.type == STACK_TYPE:
            self.exports = values
        return empty_pb2.Empty()

    def Invoke(self, request: resource_pb2.ResourceInvokeRequest) -> resource_pb2.ResourceInvokeResponse:  # noqa: N802
        """Answer what the settings determine; refuse others: an invoke queries a cloud."""
        answer = self._answers(request.tok, _read(request.tok, request.args).plain) if self._answers else None
        if answer is None:
            why = "a rendering can't invoke a cloud API: take the value from the settings or from spec.catalog"
            _refuse(request.tok, why)
        response = resource_pb2.ResourceInvokeResponse()
        # `return` is a Python keyword, so the field can't be set by name.
        getattr(response, "return").CopyFrom(wire.encode(answer))
        return response

    def Call(self, request: resource_pb2.ResourceCallRequest) -> NoReturn:  # noqa: N802
        """Refuse: a method of a resource runs in its provider."""
        _refuse(request.tok, "a rendering has no provider to run a resource's method: compute the value in the program")

    def ReadResource(self, request: resource_pb2.ReadResourceRequest) -> NoReturn:  # noqa: N802
        """Refuse: only a cloud can read existing resources."""
        _refuse(
            f"{request.type} {request.name}", "a rendering can't read existing resources: take the id from the settings"
        )

    def GetDeploymentInfo(self, _: empty_pb2.Empty) -> resource_pb2.DeploymentInfo:  # noqa: N802
        """The features that the SDK may use."""
        return resource_pb2.DeploymentInfo(supportedFeatures=_FEATURES)

    def SignalAndWaitForShutdown(self, _: empty_pb2.Empty) -> empty_pb2.Empty:  # noqa: N802
        """Nothing to wait for."""
        return empty_pb2.Empty()

    def Log(self, request: engine_pb2.LogRequest) -> None:  # noqa: N802
        """Keep the program's messages; the SDK's own debug messages are dropped."""
        if request.severity in _LEVELS:
            self.messages.append((_LEVELS[request.severity], request.message))

    def _answer(self, resource: RecordedResource, sent: struct_pb2.Struct) -> tuple[str, struct_pb2.Struct]:
        properties = struct_pb2.Struct()
        properties.CopyFrom(sent)
        if not resource.custom or self._preview:
            return "", properties
        account, region = self._place(resource.options.provider)
        facts = samples.Facts(
            urn=resource.urn,
            type=resource.type,
            logical_name=resource.name,
            inputs=resource.inputs.plain,
            project=self.project,
            stack=self.stack,
            account=account,
            region=region,
        )
        identity, outputs = samples.answer(facts)
        _overlay(properties, outputs)
        return identity, properties

    def _place(self, provider: str | None) -> tuple[str, str]:
        inputs: Mapping[str, Any] = self.resources[provider].inputs.plain if provider in self.resources else {}
        accounts = wire.nested(inputs.get("allowedAccountIds", "[]"))
        account = accounts[0] if isinstance(accounts, list) and accounts else DEFAULT_ACCOUNT
        return str(account), str(inputs.get("region", DEFAULT_REGION))


def _with_outputs(resource: RecordedResource, outputs: Values, identity: str = "") -> RecordedResource:
    return replace(resource, outputs=outputs, id=identity)


def _read(where: str, struct: struct_pb2.Struct) -> Values:
    try:
        return read(struct)
    except ProviderError as error:
        _refuse(where, str(error))


def _overlay(under: struct_pb2.Struct, over: Mapping[str, Any]) -> None:
    """Merge computed outputs over the inputs, maps by key; secret inputs are kept unchanged."""
    for key, value in wire.encode(over).fields.items():
        below = under.fields.get(key)
        if below is None or below.WhichOneof("kind") != "struct_value":
            under.fields[key].CopyFrom(value)
        elif is_plain(below.struct_value) and isinstance(over[key], Mapping):
            _overlay(below.struct_value, over[key])


def _refuse(where: str, why: str) -> NoReturn:
    msg = f"{where}: {why}"
    raise RenderError(msg)

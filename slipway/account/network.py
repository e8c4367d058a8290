"""The existing VPC that a stack names, held against what its cluster needs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from ipaddress import IPv4Network
from typing import Any, Final

from slipway.account.cluster import look_up
from slipway.account.context import AccountContext, Diagnosis, failed, note, ok
from spec.settings import found
from spec.settings.existing import KEYS, Existing, ExistingSubnets
from spec.settings.found import Subnet, Vpc
from spec.settings.found_cluster import FoundCluster, nodes_in, private_in
from spec.settings.problems import ConfigurationError

_ANYWHERE: Final = "0.0.0.0/0"
_TARGETS: Final = (
    "NatGatewayId", "TransitGatewayId", "GatewayId", "NetworkInterfaceId", "VpcPeeringConnectionId",
    "CarrierGatewayId", "LocalGatewayId", "CoreNetworkArn", "InstanceId",
)  # fmt: skip
_WHAT: Final = "existing network"


def existing(context: AccountContext) -> Iterator[Diagnosis]:
    """The VPC and its subnets exist, and a cluster can use them; nothing if the stack makes its VPC, or if the cluster
    whose VPC it is doesn't exist."""
    settings = context.platform.network
    cluster = look_up(context)
    if settings.existing is None or (cluster is None and context.platform.cluster.existing is not None):
        return
    reader = _Reader(context, settings.existing)
    if cluster is not None:
        try:
            reader = _Reader(context, reader.of_cluster(cluster))
        except ConfigurationError as error:
            for problem in error.problems:
                yield failed(_WHAT, f"{problem.path}: {problem.rule} ({problem.value})", problem.fix)
            return
    vpcs = reader.vpcs()
    if len(vpcs) != 1:
        yield failed(_WHAT, f"{len(vpcs)} VPCs are the one of the settings", f"correct {found.PATH}.vpc")
        return
    subnets, wrong = reader.subnets(vpcs[0]["VpcId"])
    if wrong:
        yield from wrong
        return
    balancers = context.platform.addons.load_balancer_controller is not None
    needs = found.needs_of(settings, context.platform.pools, context.platform.account, balancers=balancers)
    if cluster is not None:
        needs = replace(needs, vpc=cluster.vpc, subnets=cluster.subnets)
    vpc = reader.vpc(vpcs[0], subnets)
    refused = list(found.problems(settings, vpc, needs))
    for problem in refused:
        yield failed(_WHAT, f"{problem.path}: {problem.rule} ({problem.value})", problem.fix)
    for problem in found.warnings(settings, vpc, needs):
        yield note(_WHAT, f"{problem.path}: {problem.rule} ({problem.value})", problem.fix)
    if not refused:
        ids = ", ".join(subnet.id for by_zone in subnets.values() for subnet in by_zone.values())
        yield ok(_WHAT, f"{vpc.id} with {ids}")


class _Reader:
    def __init__(self, context: AccountContext, existing: Existing) -> None:
        self._context, self._existing = context, existing
        self._network = context.platform.network

    def of_cluster(self, cluster: FoundCluster) -> Existing:
        """The settings with what they leave to a cluster that exists. Raises ConfigurationError for a zone in which it
        has no private subnet, or several."""
        given, ids = self._existing.private_subnets, dict[str, str]()
        if not (given.ids or given.tags):
            described = self._context.client("ec2").describe_subnets(SubnetIds=list(cluster.subnets))["Subnets"]
            ids = private_in(self._network.zones, map(self._subnet, described))
        return nodes_in(self._existing, cluster.vpc, ids)

    def vpcs(self) -> list[Mapping[str, Any]]:
        named = self._existing.vpc
        return list(self._all("describe_vpcs", "Vpcs", {"vpc-id": named.id} if named.id else _by_tags(named.tags)))

    def subnets(self, vpc: str) -> tuple[dict[str, dict[str, Subnet]], list[Diagnosis]]:
        """Subnets by kind and zone, and those that do not exist or are several."""
        by_kind: dict[str, dict[str, Subnet]] = {}
        wrong = []
        for kind, named in self._existing.kinds.items():
            for zone in sorted(self._network.zones):
                described = self._described(vpc, zone, named)
                if len(described) == 1:
                    by_kind.setdefault(kind, {})[zone] = self._subnet(described[0])
                else:
                    state = f"{len(described)} subnets in {zone} are those of {KEYS[kind]}, not one"
                    wrong.append(failed(_WHAT, state, f"correct {found.PATH}.{KEYS[kind]}"))
        return by_kind, wrong

    def _described(self, vpc: str, zone: str, named: ExistingSubnets) -> Sequence[Mapping[str, Any]]:
        by_tags = {"vpc-id": vpc, "availability-zone": zone, **_by_tags(named.tags)}
        filters = {"subnet-id": named.ids[zone]} if zone in named.ids else by_tags
        return list(self._all("describe_subnets", "Subnets", filters))

    def vpc(self, described: Mapping[str, Any], subnets: Mapping[str, Mapping[str, Subnet]]) -> Vpc:
        id = described["VpcId"]
        endpoints = list(self._all("describe_vpc_endpoints", "VpcEndpoints", {"vpc-id": id}))
        available = [one for one in endpoints if one["State"] == "available"]
        ours = {subnet.id for by_zone in subnets.values() for subnet in by_zone.values()}
        for_pods = self._all("describe_subnets", "Subnets", {"vpc-id": id, f"tag:{found.CNI_TAG}": "1"})
        return Vpc(
            id=id,
            owner=described["OwnerId"],
            ranges=tuple(IPv4Network(one["CidrBlock"]) for one in described["CidrBlockAssociationSet"]),
            dns_support=self._attribute(id, "enableDnsSupport"),
            dns_hostnames=self._attribute(id, "enableDnsHostnames"),
            subnets=subnets,
            endpoints={
                _service(one, self._context.region): bool(one.get("PrivateDnsEnabled"))
                for one in available
                if one["VpcEndpointType"] == "Interface"
            },
            s3_tables=frozenset(
                table
                for one in available
                if one["VpcEndpointType"] == "Gateway" and _service(one, self._context.region) == "s3"
                for table in one["RouteTableIds"]
            ),
            pods_elsewhere=tuple(sorted({one["SubnetId"] for one in for_pods} - ours)),
        )

    def _attribute(self, vpc: str, name: str) -> bool:
        answer = self._context.client("ec2").describe_vpc_attribute(VpcId=vpc, Attribute=name)
        return bool(answer[name[0].upper() + name[1:]]["Value"])

    def _subnet(self, described: Mapping[str, Any]) -> Subnet:
        table = self._table(described["VpcId"], described["SubnetId"])
        return Subnet(
            id=described["SubnetId"],
            vpc=described["VpcId"],
            zone=described["AvailabilityZone"],
            cidr=IPv4Network(described["CidrBlock"]),
            free=described["AvailableIpAddressCount"],
            tags={tag["Key"]: tag["Value"] for tag in described.get("Tags", ())},
            table=table["RouteTableId"],
            default_route=next(
                (_target(route) for route in table["Routes"] if route.get("DestinationCidrBlock") == _ANYWHERE), ""
            ),
        )

    def _table(self, vpc: str, subnet: str) -> Mapping[str, Any]:
        """The subnet's own route table, or the main one."""
        own = {"vpc-id": vpc, "association.subnet-id": subnet}
        main = {"vpc-id": vpc, "association.main": "true"}
        tables = [table for filters in (own, main) for table in self._tables(filters)]
        return tables[0]

    def _tables(self, filters: Mapping[str, str]) -> Iterator[Mapping[str, Any]]:
        return self._all("describe_route_tables", "RouteTables", filters)

    def _all(self, operation: str, key: str, filters: Mapping[str, str]) -> Iterator[Mapping[str, Any]]:
        listed = [{"Name": name, "Values": [value]} for name, value in filters.items()]
        return self._context.pages("ec2", operation, key, Filters=listed)


def _by_tags(tags: Mapping[str, str]) -> dict[str, str]:
    return {f"tag:{key}": value for key, value in tags.items()}


def _service(endpoint: Mapping[str, Any], region: str) -> str:
    return str(endpoint["ServiceName"]).rpartition(f".{region}.")[2]


def _target(route: Mapping[str, Any]) -> str:
    """Empty for a route whose target no longer exists."""
    if route.get("State") == "blackhole":
        return ""
    return next((str(route[name]) for name in _TARGETS if route.get(name)), "")

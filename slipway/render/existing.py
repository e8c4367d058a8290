"""Answers to the look-ups of an existing network, as the settings describe it.

A rendering asks no cloud: the answers are those of a network in which everything is right, with the IDs that the
settings name. What is wrong, a preview and `slipway doctor --aws` find.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, Final, TypeAlias

from spec.settings.existing import Existing
from spec.settings.found import BALANCER_TAGS, CNI_TAG
from spec.settings.network import Nat
from spec.settings.platform import Platform
from spec.subnets import AWS_RESERVED

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
        "aws:ec2/getVpc:getVpc": network.vpc,
        "aws:ec2/getSubnet:getSubnet": network.subnet,
        "aws:ec2/getSubnets:getSubnets": lambda _: {"ids": []},
        "aws:ec2/getRouteTables:getRouteTables": network.tables,
        "aws:ec2/getRouteTable:getRouteTable": network.table,
        "aws:ec2/getVpcEndpoint:getVpcEndpoint": network.endpoint,
    }
    return lambda token, args: by_token[token](args) if token in by_token else None


class _Network:
    def __init__(self, platform: Platform, existing: Existing) -> None:
        self._platform, self._settings, self._existing = platform, platform.network, existing

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

"""The network of a stack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from slipway.report.model import NetworkView, ZoneView
from spec.naming import zone_letter
from spec.settings.existing import Existing
from spec.settings.network import Nat, Network
from spec.subnets import layout

_OUT: Final = {
    Nat.SINGLE: "one NAT gateway for all zones",
    Nat.PER_ZONE: "one NAT gateway per zone",
    Nat.NONE: "none, only VPC endpoints",
}

_TRAFFIC: Final = {"ALL": "all", "ACCEPT": "accepted", "REJECT": "rejected"}


_OUT_OF_EXISTING: Final = "by the routes of the existing VPC"


def network(settings: Network) -> NetworkView:
    """The VPC that the settings describe."""
    logs, existing = settings.flow_logs, settings.existing
    by_nat = existing is None or settings.nat is Nat.NONE
    return NetworkView(
        vpc=_named(existing.vpc.id, existing.vpc.tags) if existing is not None else "",
        cidr=str(settings.cidr),
        pod_cidr=str(settings.pod_cidr or ""),
        zones=_zones(settings),
        out=_OUT[settings.nat] if by_nat else _OUT_OF_EXISTING,
        endpoints=("s3", *(str(endpoint) for endpoint in settings.endpoints)),
        peers=tuple((name, str(cidr)) for name, cidr in sorted(settings.peers.items())),
        flow_logs=f"{_TRAFFIC[logs.traffic_type]} traffic, kept {logs.retention_days} days" if logs.enabled else "off",
    )


def _zones_of(settings: Network, existing: Existing) -> tuple[ZoneView, ...]:
    """The subnets of an existing VPC, by what names them: their ranges are not in the settings."""
    return tuple(
        ZoneView(
            name=zone,
            subnets=tuple((kind, _named(named.ids.get(zone), named.tags)) for kind, named in existing.kinds.items()),
            nat=False,
        )
        for zone in sorted(settings.zones)
    )


def _named(id: str | None, tags: Mapping[str, str]) -> str:
    return id or ", ".join(f"{key}={value}" for key, value in sorted(tags.items()))


def _zones(settings: Network) -> tuple[ZoneView, ...]:
    if settings.existing is not None:
        return _zones_of(settings, settings.existing)
    ranges = layout(settings.cidr, settings.zones, settings.pod_cidr)
    names = sorted(settings.zones)
    zones = []
    for index, name in enumerate(names):
        own = ranges[zone_letter(name)]
        subnets = [("public", str(own.public)), ("private", str(own.private))]
        subnets += [("pods", str(own.pods))] if own.pods else []
        nat = settings.nat is Nat.PER_ZONE or (settings.nat is Nat.SINGLE and index == 0)
        zones.append(ZoneView(name=name, subnets=tuple(subnets), nat=nat))
    return tuple(zones)

"""Floor and ceiling of a stack, part by part."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Final

from components.pools.spec import resolve
from infra.catalog import kubernetes, prices
from infra.config.network import Nat, Network
from infra.config.platform import Platform
from slipway.cost.model import Estimate, Line, Unpriced, priced
from slipway.cost.pools import machines, storage

KEY_ROTATIONS: Final = 2
"""Rotations of a KMS key that are billed, a dollar each (price list, see `infra.catalog.prices`)."""
_BY_USE: Final = {
    "nat-gateway-data": "traffic through NAT gateways",
    "interface-endpoint-data": "traffic through interface endpoints",
    "logs-ingested": "control plane logs written",
    "logs-vended": "flow logs written",
    "logs-stored": "logs kept",
}
_WITHOUT_PRICE: Final = {
    "data-transfer": "data transfer",
    "sqs": "queue of interruption notices",
    "eventbridge": "rules for interruption notices",
}


def estimate(platform: Platform, today: date | None = None) -> Estimate:
    """Price everything of a stack that costs money by the hour.

    Args:
        platform: Valid settings.
        today: Day that decides whether a Kubernetes version is in extended support; today where not given.
    """
    found: list[Line | Unpriced] = [
        *_control_plane(platform, today or date.today()),
        *_network(platform.network),
        *_keys(platform),
    ]
    for name, pool in platform.pools.items():
        spec = resolve(name, pool, platform)
        found += [*machines(spec), *storage(spec)]
    found += _unpriced(platform)
    return Estimate(
        region=platform.account.region,
        lines=tuple(item for item in found if isinstance(item, Line)),
        unpriced=tuple(item for item in found if isinstance(item, Unpriced)),
    )


def _control_plane(platform: Platform, today: date) -> Iterator[Line]:
    cluster = platform.cluster
    extended = cluster.support == "extended" and kubernetes.support(cluster.version, today) == "extended"
    price = prices.get("eks-cluster-extended" if extended else "eks-cluster")
    support = "extended" if extended else "standard"
    yield priced(f"EKS control plane, {support} support", price, 1, unit="cluster")


def _network(network: Network) -> Iterator[Line]:
    gateways = {Nat.SINGLE: 1, Nat.PER_ZONE: len(network.zones), Nat.NONE: 0}[network.nat]
    if gateways:
        yield priced("NAT gateways", prices.get("nat-gateway"), gateways, unit="gateway")
        yield priced("public addresses of NAT gateways", prices.get("public-ipv4"), gateways, unit="address")
    if network.endpoints:
        interfaces = len(network.endpoints) * len(network.zones)
        what = f"interface endpoints, {len(network.endpoints)} in {len(network.zones)} zones"
        yield priced(what, prices.get("interface-endpoint"), interfaces, unit="interface")


def _keys(platform: Platform) -> Iterator[Line]:
    keys = 1 + platform.network.flow_logs.enabled
    yield priced("KMS keys for logs and secrets", prices.get("kms-key"), keys, unit="key")
    yield priced("KMS keys: yearly rotations", prices.get("kms-key"), 0, keys * KEY_ROTATIONS, "rotation")


def _unpriced(platform: Platform) -> Iterator[Unpriced]:
    """What depends on use, with its unit price where there is one."""
    network = platform.network
    absent = {
        "nat-gateway-data": network.nat is Nat.NONE,
        "interface-endpoint-data": not network.endpoints,
        "logs-vended": not network.flow_logs.enabled,
        "sqs": not platform.karpenter_pools,
        "eventbridge": not platform.karpenter_pools,
    }
    for name, what in _BY_USE.items():
        if not absent.get(name):
            price = prices.get(name)
            yield Unpriced(what, f"by use: {price.usd} USD a {price.unit}")
    for name, what in _WITHOUT_PRICE.items():
        if not absent.get(name):
            yield Unpriced(what, prices.UNPRICED[name])

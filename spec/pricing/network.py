"""Cost of the network: gateways, endpoints, addresses, load balancers, data transfer."""

from __future__ import annotations

from collections.abc import Iterator

from spec.pricing import services
from spec.pricing.model import Unpriced
from spec.pricing.pricer import Item, Pricer, exact
from spec.settings.network import Nat
from spec.settings.platform import Platform

_BALANCERS = {"application": ("alb", "LCU"), "network": ("nlb", "NLCU")}


def network(platform: Platform, pricer: Pricer) -> Iterator[Item]:
    """All parts of the network. Gateways and endpoints of an existing VPC are its owner's; their data is priced."""
    settings, usage = platform.network, platform.cost.usage
    gateways = settings.nat_gateways
    if gateways:
        yield pricer.line(services.NAT, "gateways", "nat-gateway", "gateway", minimum=gateways)
        yield pricer.line(services.ADDRESSES, "of NAT gateways", "public-ipv4", "address", minimum=gateways)
    if settings.nat is not Nat.NONE:
        setting = "cost.usage.natGib"
        yield pricer.used(services.NAT, "data through NAT gateways", "nat-gateway-data", "GB", usage.nat_gib, setting)
    if settings.existing is None and settings.endpoints:
        interfaces = len(settings.endpoints) * len(settings.zones)
        note = f"{len(settings.endpoints)} in {len(settings.zones)} zones"
        what = "interface endpoints"
        yield pricer.line(services.ENDPOINTS, what, "interface-endpoint", "interface", minimum=interfaces, note=note)
    if settings.endpoints:
        item, setting = "data through interface endpoints", "cost.usage.endpointsGib"
        yield pricer.used(services.ENDPOINTS, item, "interface-endpoint-data", "GB", usage.endpoints_gib, setting)
    yield from _transfer(platform, pricer)
    yield from _balancers(platform, pricer)


def _transfer(platform: Platform, pricer: Pricer) -> Iterator[Item]:
    use = platform.cost.usage.transfer
    # AWS bills both ends of traffic between zones (aws.amazon.com/ec2/pricing/on-demand, "Data Transfer").
    kinds = {
        "transfer-internet": ("to the internet", use.internet_gib if use else None, "internetGib"),
        "transfer-zones": ("between zones", 2 * exact(use.between_zones_gib) if use else None, "betweenZonesGib"),
        "transfer-regions": ("to other regions", use.other_regions_gib if use else None, "otherRegionsGib"),
    }
    for name, (item, amount, key) in kinds.items():
        yield pricer.used(services.TRANSFER, item, name, "GB", amount, f"cost.usage.transfer.{key}")


def _balancers(platform: Platform, pricer: Pricer) -> Iterator[Item]:
    """Load balancers that the cluster creates; the stack itself creates none."""
    declared = platform.cost.usage.load_balancers
    for name, each in sorted(declared.items()):
        key, unit = _BALANCERS[each.kind]
        item = f"{each.kind} load balancer {name}"
        yield pricer.line(services.BALANCERS, item, key, "balancer", minimum=0, typical=1, note="declared use")
        units = f"capacity units of {name}"
        typical = each.capacity_units
        yield pricer.line(
            services.BALANCERS, units, f"{key}-unit", unit, minimum=0, typical=typical, note="declared use"
        )
        if each.public:
            zones = len(platform.network.zones)
            what = f"of load balancer {name}"
            yield pricer.line(services.ADDRESSES, what, "public-ipv4", "address", minimum=0, typical=zones)
    if platform.addons.load_balancer_controller is not None and not declared:
        why = "Ingresses, Services and Gateways create them; declare cost.usage.loadBalancers"
        yield Unpriced("load balancers", why)

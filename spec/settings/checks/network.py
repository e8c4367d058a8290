"""Checks of the network: ranges, zones, and addresses for the pods of every pool; `network.existing` as far as it needs
no AWS (`spec.settings.found` has the checks that a preview makes); and the zones that offer the types of a pool.
"""

from collections.abc import Iterator
from ipaddress import IPv4Network
from itertools import combinations
from string import ascii_lowercase
from typing import Final

from spec.catalog import instances, regions
from spec.naming import zone_letter
from spec.settings.checks.base import Context, warns
from spec.settings.cluster import Cluster
from spec.settings.environment import Account
from spec.settings.existing import KEYS
from spec.settings.network import Nat, Network
from spec.settings.pools import Pool, Provisioner
from spec.settings.problems import Problem
from spec.settings.zones import addresses_needed, offering, offering_ids
from spec.subnets import PUBLIC_SLOT, layout

RFC1918: Final = tuple(IPv4Network(text) for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"))
RFC6598: Final = IPv4Network("100.64.0.0/10")
LETTERS: Final = ascii_lowercase[:PUBLIC_SLOT]
"""Letters of zones that have a range in the VPC; the slot after them is divided into public subnets."""
_ASK: Final = "Take it from what `aws ec2 describe-availability-zones` prints."
NEEDED_WITHOUT_NAT: Final = ("ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "logs", "sts")
"""Endpoints that nodes and add-ons need without NAT (EKS User Guide, "private clusters")."""


def ranges_allowed(context: Context, network: Network, cluster: Cluster) -> Iterator[Problem]:
    """Each range on its own: private, and of a size that AWS accepts and the layout can divide."""
    existing = network.existing is not None
    # The layout divides a range of /16 to /20; a VPC that exists has any range that AWS accepts, /16 to /28.
    longest, within = (28, (*RFC1918, RFC6598)) if existing else (20, RFC1918)
    yield from _sized("network.cidr", network.cidr, 16, longest, within)
    if network.pod_cidr:
        yield from _sized("network.podCidr", network.pod_cidr, 16, longest, (*RFC1918, RFC6598))
    # /24 to /12 (botocore, eks CreateCluster, kubernetesNetworkConfig.serviceIpv4Cidr)
    yield from _sized("cluster.serviceIpv4Cidr", cluster.service_ipv4_cidr, 12, 24, RFC1918)


def _sized(
    path: str, cidr: IPv4Network, shortest: int, longest: int, within: tuple[IPv4Network, ...]
) -> Iterator[Problem]:
    if not any(cidr.subnet_of(private) for private in within):
        names = ", ".join(str(private) for private in within)
        yield Problem(path, f"the range must be within {names}", str(cidr), "Use a private range.")
    if not shortest <= cidr.prefixlen <= longest:
        rule = f"the range must be /{shortest} to /{longest}"
        yield Problem(path, rule, str(cidr), f"Use for example {cidr.network_address}/{shortest}.")


def ranges_apart(context: Context, network: Network, cluster: Cluster) -> Iterator[Problem]:
    """Ranges between which packets travel do not overlap."""
    named: list[tuple[str, IPv4Network]] = [
        ("network.cidr", network.cidr),
        ("cluster.serviceIpv4Cidr", cluster.service_ipv4_cidr),
    ]
    if network.pod_cidr:
        named.append(("network.podCidr", network.pod_cidr))
    named += [(f"network.peers.{name}", peer) for name, peer in network.peers.items()]
    for (one, first), (other, second) in combinations(named, 2):
        if first.overlaps(second) and not (one.startswith("network.peers") and other.startswith("network.peers")):
            yield Problem(other, f"the range must not overlap {one} ({first})", str(second), "Choose another range.")


def elsewhere(network: Network, account: Account) -> str:
    """The region of all zones, if it is another one than the account's; empty otherwise."""
    found = {zone[:-1] for zone in network.zones}
    other = found.pop() if len(found) == 1 else account.region
    return other if other != account.region and regions.is_region(other) else ""


def zones_of_region(context: Context, network: Network, account: Account) -> Iterator[Problem]:
    """Zones exist, belong to the region, and are listed once."""
    if not regions.is_region(account.region):
        return  # another check asks for the region
    known = regions.zones(account.region)
    if other := elsewhere(network, account):
        some = f"zones of {account.region}: {', '.join(known)}" if known else f"zones of {account.region}"
        rule = f"the zones of the network are in {other}"
        yield Problem("account.region", rule, account.region, f"Use {other}; or {some}.")
        return
    # Where no source lists a region's zones, any letter that has a range is accepted.
    allowed = known or tuple(f"{account.region}{letter}" for letter in LETTERS)
    for position, zone in enumerate(network.zones):
        path = f"network.zones.{position}"
        if zone not in allowed:
            rule = f"the zone must be in {account.region}"
            yield Problem(path, rule, zone, f"Use {', '.join(allowed)}.")
        if zone in network.zones[:position]:
            yield Problem(path, "each zone is listed once", zone, "Remove one of the two.")


def way_out(context: Context, network: Network) -> Iterator[Problem]:
    """Without NAT, nodes join only through interface endpoints."""
    missing = [name for name in NEEDED_WITHOUT_NAT if name not in network.endpoints]
    if network.nat is Nat.NONE and missing:
        rule = "without NAT, nodes need endpoints for the AWS services that they call"
        yield Problem("network.endpoints", rule, list(network.endpoints), f"Add {', '.join(missing)}.")


def zone_ids(context: Context, network: Network, account: Account) -> Iterator[Problem]:
    """Zone IDs belong to the region and to one zone each, every zone of the network has one, and EKS supports it."""
    if not account.zone_ids or not regions.is_region(account.region) or elsewhere(network, account):
        return
    known = regions.get(account.region).zone_ids
    foreign = [zone for zone in account.zone_ids if not zone.startswith(account.region)]
    if foreign:
        rule = f"the zone must be in {account.region}"
        yield Problem(f"account.zoneIds.{foreign[0]}", rule, foreign[0], "Name the zones of the network.")
        return
    seen: dict[str, str] = {}
    for zone, given in account.zone_ids.items():
        path = f"account.zoneIds.{zone}"
        if known and given not in known:
            yield Problem(path, f"the zone ID must be in {account.region}", given, f"Use {', '.join(known)}.")
        if given in seen:
            yield Problem(path, f"two zones can't have the same ID, and {seen[given]} has it", given, _ASK)
        seen.setdefault(given, zone)
    for position, zone in enumerate(network.zones):
        given_id = account.zone_ids.get(zone)
        if given_id is None and zone in (regions.zones(account.region) or network.zones):
            rule = "every zone of the network needs its ID, if some have one"
            yield Problem(f"account.zoneIds.{zone}", rule, None, _ASK)
        elif given_id in regions.WITHOUT_EKS:
            rule = f"EKS does not support zone {given_id}, which is {zone} in this account"
            yield Problem(f"network.zones.{position}", rule, zone, "Use another zone.")


def addresses_for_pods(
    context: Context, network: Network, pools: dict[str, Pool], account: Account
) -> Iterator[Problem]:
    """Every zone has addresses for all pools at their maximum; a preview looks at those of an existing VPC."""
    if network.existing is not None:
        return
    if not 16 <= network.cidr.prefixlen <= 20 or (network.pod_cidr and not 16 <= network.pod_cidr.prefixlen <= 20):
        return
    if any(zone_letter(zone) not in LETTERS for zone in network.zones):
        return  # such a zone has no range at all, and is refused above
    short: dict[str, tuple[int, int]] = {}
    for letter, ranges in layout(network.cidr, network.zones, network.pod_cidr).items():
        needed = addresses_needed(letter, network, pools, account)
        if needed > ranges.pod_addresses:
            short[letter] = (needed, ranges.pod_addresses)
    if short:
        letter, (needed, available) = max(short.items(), key=lambda item: item[1])
        path = "network.podCidr" if network.pod_cidr else "network.cidr"
        rule = f"zone {letter} needs {needed} pod addresses with all pools at their maximum"
        fix = "Add a podCidr or a larger one, lower max or maxPods of the largest pools, or use more zones."
        yield Problem(path, rule, f"{available} addresses", fix)


_PATH = "network.existing"


def one_subnet_in_each_zone(_context: Context, network: Network) -> Iterator[Problem]:
    """Subnets are named for the zones of the network, and none of them twice."""
    if network.existing is None:
        return
    seen: dict[str, str] = {}
    for kind, subnets in network.existing.kinds.items():
        path = f"{_PATH}.{KEYS[kind]}.ids"
        missing = [zone for zone in network.zones if zone not in subnets.ids]
        if subnets.ids and missing:
            fix = f"Add {', '.join(missing)}, or remove it from network.zones."
            yield Problem(path, "every zone of the network needs a subnet", sorted(subnets.ids), fix)
        for zone, id in subnets.ids.items():
            place = f"{path}.{zone}"
            if zone not in network.zones:
                yield Problem(place, "the zone must be in network.zones", zone, f"Use {', '.join(network.zones)}.")
            if id in seen:
                yield Problem(place, f"a subnet has one purpose, and {seen[id]} names it", id, "Name another subnet.")
            seen.setdefault(id, place)


def nothing_made(context: Context, network: Network) -> Iterator[Problem]:
    """Settings that would make parts of a VPC are not set for one that exists."""
    if network.existing is None:
        return
    if "nat" in context.raw["network"] and network.nat is not Nat.NONE:
        rule = "Slipway makes no NAT gateway in an existing VPC"
        fix = "Remove it, or set `none` if the private subnets have no route to the internet."
        yield Problem("network.nat", rule, str(network.nat), fix)
    if (network.pod_cidr is None) != (network.existing.pod_subnets is None):
        rule = "subnets for pods and their range belong together"
        path = "network.podCidr" if network.pod_cidr is None else f"{_PATH}.podSubnets"
        yield Problem(path, rule, None, "Set both network.podCidr and network.existing.podSubnets, or none of them.")


def types_in_zones(context: Context, pools: dict[str, Pool], network: Network, account: Account) -> Iterator[Problem]:
    """A pool has zones that offer its types: all of them for a managed node group, any for Karpenter."""
    if elsewhere(network, account):
        return  # another check asks for the region
    for name, pool in pools.items():
        ids = offering_ids(pool, account.region)
        if ids is None or not _in_region(pool, account.region):
            continue
        if not account.zone_ids:
            yield from _too_many(name, pool, network, account, len(ids))
            continue
        if not set(network.zones) <= set(account.zone_ids):
            continue  # another check asks for the missing ones
        named = [zone for zone in pool.zones if zone in account.zone_ids]
        outside = [zone for zone in named if zone not in offering(pool, named, account)]
        if outside and (pool.provisioner is Provisioner.MANAGED or outside == named):
            rule = f"the zone must offer {_types(pool)}, and {account.zone_ids[outside[0]]} does not"
            yield Problem(f"pools.{name}.zones", rule, outside[0], _where(ids))
        elif not pool.zones and not offering(pool, network.zones, account):
            rule = f"a zone of the network must offer {_types(pool)}"
            given = [account.zone_ids.get(zone, zone) for zone in network.zones]
            yield Problem(f"pools.{name}.instanceTypes", rule, given, _where(ids))


def _in_region(pool: Pool, region: str) -> bool:
    """Whether the region offers every type; otherwise another check reports it."""
    kinds = [kind for name in pool.instance_types if (kind := instances.find(name)) is not None]
    return all(kind.offered_in(region) for kind in kinds)


def _too_many(name: str, pool: Pool, network: Network, account: Account, offered: int) -> Iterator[Problem]:
    """Without zone IDs: more zones than offer the types, so that some don't, whichever they are."""
    zones = pool.zones or network.zones
    if pool.provisioner is Provisioner.MANAGED and len(zones) > offered:
        rule = (
            f"{account.region} offers {_types(pool)} in {offered} zone(s) only, and EKS refuses a node group in others"
        )
        fix = "Declare `account.zoneIds`, and the pool uses those; or name zones that offer the types."
        yield Problem(f"pools.{name}.zones", rule, list(zones), fix)


def _types(pool: Pool) -> str:
    joined = " and " if pool.provisioner is Provisioner.MANAGED else " or "
    return joined.join(pool.instance_types)


def _where(ids: frozenset[str]) -> str:
    if not ids:
        return "No zone offers all types: make a pool of each."
    return f"It is offered in {', '.join(sorted(ids))}: add such a zone to the network, or choose another type."


@warns
def zones_unknown(context: Context, pools: dict[str, Pool], network: Network, account: Account) -> Iterator[Problem]:
    """Types that not every zone offers, where the stack declares no zone IDs (a warning)."""
    if account.zone_ids or not regions.is_region(account.region):
        return
    possible = frozenset(regions.get(account.region).zone_ids) - regions.WITHOUT_EKS
    some = [
        name
        for name, pool in pools.items()
        if (ids := offering_ids(pool, account.region)) is not None and possible - ids
    ]
    if some:
        rule = f"not every zone of {account.region} offers the types of {', '.join(some)}, and which do is unknown"
        fix = "Declare the IDs that `aws ec2 describe-availability-zones` prints."
        yield Problem("account.zoneIds", rule, None, fix)

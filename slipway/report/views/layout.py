"""The map of a stack and its network: which zone has which pool, which team may use it, and which stores."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from slipway.report.advice import Box, Link, Map, TeamLinks
from slipway.report.model import NetworkView, PoolView, Quota, StoreView, TeamView, ZoneView
from slipway.report.page import counted, span
from spec.naming import zone_letter
from spec.settings.existing import Existing
from spec.settings.network import Nat, Network
from spec.subnets import layout

# The map of a stack: which zone has which pool, which team may use it, and which stores the team uses.


WIDTH: Final = 1080
BOX: Final = 204
_GAP: Final = (WIDTH - 4 * BOX) // 3
_ROW: Final = 46
_SPACE: Final = 12
_TOP: Final = 30
_LONGEST: Final = 24
_LINE: Final = 16

_Row: TypeAlias = tuple[str, str, tuple[str, ...]]  # key, name and lines of a box


def stack_map(
    network: NetworkView,
    pools: Sequence[PoolView],
    quotas: Sequence[Quota],
    teams: Sequence[TeamView],
    stores: Sequence[StoreView],
) -> Map:
    """The drawing: a team is joined to the pools in which it has a quota, and to the stores that its pods use."""
    used = [store for store in stores if store.teams]
    rows: dict[str, list[_Row]] = {
        "Zones": [(one.name, one.name, tuple(f"{kind} {cidr}" for kind, cidr in one.subnets)) for one in network.zones],
        "Pools": [(pool.name, pool.name, (_nodes(pool),)) for pool in pools],
        "Teams": [(team.name, team.name, (team.project,)) for team in teams],
        "Storage": [(f"{store.kind} {store.name}", store.name, (store.kind,)) for store in used],
    }
    heights = {title: [_height(len(lines)) for _, _, lines in boxes] for title, boxes in rows.items()}
    height = _TOP + max(sum(column) + _SPACE * (len(column) - 1) for column in heights.values()) + 2
    columns, places = [], {}
    for index, (title, boxes) in enumerate(rows.items()):
        made = tuple(_column(boxes, heights[title], index * (BOX + _GAP), height))
        places.update({(title, box.key): box for box in made})
        columns.append((title, made))
    shares = {(part.team, quota.pool): part for quota in quotas for part in quota.parts}
    tones = {team.name: index for index, team in enumerate(teams)}
    links = [_link(places["Zones", zone], places["Pools", pool.name], -1) for pool in pools for zone in pool.zones]
    links += [_link(places["Pools", pool], places["Teams", team], tones[team]) for team, pool in shares]
    links += [
        _link(places["Teams", team], places["Storage", f"{store.kind} {store.name}"], tones[team])
        for store in used
        for team in store.teams
    ]
    zones = {pool.name: ", ".join(pool.zones) for pool in pools}
    return Map(
        width=WIDTH,
        height=height,
        box=BOX,
        columns=tuple(columns),
        links=tuple(links),
        teams=tuple(
            _team(team.name, zones, [pool for one, pool in shares if one == team.name], used) for team in teams
        ),
    )


def _nodes(pool: PoolView) -> str:
    nodes = f"{span(pool.minimum, pool.maximum)} {'node' if pool.maximum == 1 else 'nodes'}"
    return f"{nodes}, {counted(pool.gpus, pool.gpu or 'GPU', pool.gpu or 'GPUs')} each" if pool.gpus else nodes


def _height(lines: int) -> int:
    return _ROW + max(0, lines - 1) * _LINE


def _column(boxes: Sequence[_Row], heights: Sequence[int], x: int, height: int) -> Iterator[Box]:
    """Boxes from top to bottom, with the free space between them."""
    free = height - _TOP - sum(heights) - 2
    space = min(free // max(1, len(boxes)), 3 * _SPACE) if len(boxes) > 1 else 0
    y = _TOP + max(0, free - space * (len(boxes) - 1)) // 2
    for (key, name, lines), tall in zip(boxes, heights, strict=True):
        yield Box(key=key, name=_short(name), lines=tuple(_short(one, 30) for one in lines), x=x, y=y, height=tall)
        y += tall + space


def _link(left: Box, right: Box, tone: int) -> Link:
    start, end = (left.x + BOX, left.y + left.height // 2), (right.x, right.y + right.height // 2)
    bend = (end[0] - start[0]) // 2
    path = f"M{start[0]} {start[1]}C{start[0] + bend} {start[1]} {end[0] - bend} {end[1]} {end[0]} {end[1]}"
    return Link(path=path, tone=tone)


def _team(name: str, zones: Mapping[str, str], pools: Sequence[str], stores: Sequence[StoreView]) -> TeamLinks:
    return TeamLinks(
        team=name,
        pools=tuple((pool, zones.get(pool, "")) for pool in pools),
        stores=tuple(f"{store.name} ({store.kind})" for store in stores if name in store.teams),
    )


def _short(text: str, longest: int = _LONGEST) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


# The network of a stack.


_OUT: Final = {
    Nat.SINGLE: "one NAT gateway for all zones",
    Nat.PER_ZONE: "one NAT gateway per zone",
    Nat.NONE: "none, only VPC endpoints",
}

_TRAFFIC: Final = {"ALL": "all", "ACCEPT": "accepted", "REJECT": "rejected"}


_OF_CLUSTER: Final = "that of the cluster"
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
    return id or ", ".join(f"{key}={value}" for key, value in sorted(tags.items())) or _OF_CLUSTER


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

"""The period of a replay, from its `replay.json`."""

from fractions import Fraction
from typing import Final

from slipway.replay.figures import what
from slipway.replay.result import Result
from slipway.replay.steps import HOUR
from slipway.statement.charges import Nodes, Period, projects
from slipway.statement.split import PLATFORM, Use
from spec.errors import refuse
from spec.settings import Platform

_NODES: Final = "nodes are priced as in the replay; its system nodes, and what is no node, as `slipway cost` expects"


def period(result: Result, platform: Platform, stack: str) -> Period:
    """What the replay's nodes cost, and what its jobs had of them."""
    if result.stack != stack:
        refuse(f"the replay is of stack {result.stack}, not of {stack}: name that stack, or replay on {stack}")
    of = projects(platform)
    uses = tuple(
        Use(
            key=(one.team or PLATFORM, of.get(one.team, ""), one.job),
            pool=pool,
            usd=Fraction(str(used.usd)),
            gpu_hours=Fraction(str(used.gpu_hours)),
        )
        for one in result.outcomes
        for pool, used in one.uses.items()
    )
    pools = {
        one.name: Nodes(
            usd=Fraction(str(one.usd)),
            hours=Fraction(str(one.node_hours)),
            unpriced=not one.priced and one.node_hours > 0,
        )
        for one in result.pools
    }
    cut = (f"the replay was cut by {result.cut_by}: its last jobs are missing",) if result.cut else ()
    return Period(
        source=f"a replay: {what(result)}",
        start=result.start,
        hours=Fraction(str(result.seconds)) / Fraction(str(HOUR)),
        pools=pools,
        uses=uses,
        left_out=result.left_out,
        notes=(_NODES, *cut),
    )

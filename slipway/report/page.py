"""The report as a page: one file, with its style and script inside, that asks the network for nothing.

Jinja's templates escape whatever they are given; a policy in the page's head lets no other script run than its own.
"""

from __future__ import annotations

import base64
import hashlib
from decimal import Decimal
from functools import cache
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from slipway.report import numbers
from slipway.report.model import PoolView, Report
from slipway.report.plan import Verb, kind
from spec.pricing import Amounts

SECTIONS: Final = {
    "changes": "Changes",
    "cluster": "Cluster",
    "teams": "Teams",
    "cost": "Cost",
    "policies": "Policies",
    "network": "Network",
    "storage": "Storage",
    "software": "Software",
    "caveats": "Not proven",
}
"""Titles of the sections by their id; each has a template of its name."""
DRAWN: Final = 64
"""Nodes of a pool that are drawn one by one; a larger pool is drawn by one of its nodes, with how many there are."""


def page(report: Report) -> str:
    """The whole page."""
    return _environment().get_template("page.html").render(report=report, sections=sections(report))


def sections(report: Report) -> dict[str, str]:
    """Titles of the sections in the order in which they stand: changes first, where there is anything to tell of."""
    if report.plan.asked:
        return dict(SECTIONS)
    late = ("changes", "caveats")
    return {name: SECTIONS[name] for name in (*(name for name in SECTIONS if name not in late), *late)}


def nodes(pool: PoolView) -> list[tuple[str, int]]:
    """What is drawn of a pool: (`always` or `elastic`, how many nodes it stands for)."""
    groups = [("always", pool.minimum), ("elastic", pool.maximum - pool.minimum)]
    if pool.maximum <= DRAWN:
        return [(state, 1) for state, count in groups for _ in range(count)]
    return [(state, count) for state, count in groups if count]


def percent(amount: Decimal, whole: Decimal) -> str:
    """A part of a whole as a CSS length."""
    return f"{float(100 * amount / whole) if whole else 0:.2f}%"


def largest(amounts: list[Amounts]) -> Decimal:
    """The largest of all amounts: the scale of their bars."""
    return max((max(one.floor, one.expected, one.ceiling) for one in amounts), default=Decimal(0))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("slipway.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        usd=numbers.usd, cents=numbers.cents, signed=numbers.signed, counted=numbers.counted, kind=kind
    )
    script = _source(environment, "page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    environment.globals.update(
        verbs=tuple(Verb),
        nodes=nodes,
        percent=percent,
        largest=largest,
        span=numbers.span,
        usd_span=numbers.usd_span,
        digest=digest,
    )
    return environment


def _source(environment: Environment, name: str) -> str:
    if environment.loader is None:
        msg = "the page's environment has no loader"
        raise ValueError(msg)
    return environment.loader.get_source(environment, name)[0]

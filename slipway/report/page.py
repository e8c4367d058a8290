"""The report as an HTML page: one self-contained file that makes no network requests.

The Jinja templates escape all values, and a content security policy in the page allows only its own script.
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
    "actions": "What to do",
    "map": "Map",
    "cluster": "Cluster",
    "teams": "Teams",
    "cost": "Cost",
    "policies": "Policies",
    "network": "Network",
    "storage": "Storage",
    "software": "Software",
    "caveats": "Limitations",
}
"""Section titles by id; each section has a template named after its id."""
DRAWN: Final = 64
"""Maximum number of nodes drawn individually; a larger pool is drawn as one node with a count."""


def page(report: Report) -> str:
    """The whole page."""
    return _environment().get_template("page.html").render(report=report, sections=sections(report))


def sections(report: Report) -> dict[str, str]:
    """Section titles in display order; changes come first if there is a comparison."""
    if report.plan.asked:
        return dict(SECTIONS)
    late = ("changes", "caveats")
    return {name: SECTIONS[name] for name in (*(name for name in SECTIONS if name not in late), *late)}


def nodes(pool: PoolView) -> list[tuple[str, int]]:
    """The nodes to draw for a pool: (`always` or `elastic`, number of nodes represented)."""
    groups = [("always", pool.minimum), ("elastic", pool.maximum - pool.minimum)]
    if pool.maximum <= DRAWN:
        return [(state, 1) for state, count in groups for _ in range(count)]
    return [(state, count) for state, count in groups if count]


def percent(amount: Decimal, whole: Decimal) -> str:
    """A fraction as a CSS percentage."""
    return f"{float(100 * amount / whole) if whole else 0:.2f}%"


def largest(amounts: list[Amounts]) -> Decimal:
    """The largest of all amounts, which scales their bars."""
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
        sentence=numbers.sentence,
        usd=numbers.usd,
        cents=numbers.cents,
        signed=numbers.signed,
        counted=numbers.counted,
        kind=kind,
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

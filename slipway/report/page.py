"""The report as an HTML page: one self-contained file that makes no network requests.

The Jinja templates escape all values, and a content security policy in the page allows only its own script.
"""

import base64
import hashlib
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from slipway.report.model import PoolView, Report
from slipway.report.plan import Verb, kind
from spec.pricing import Amounts

# Formats numbers for readers, in the page and in the comment.


_CENT: Final = Decimal("0.01")
_WHOLE: Final = Decimal(1)
_MINUS: Final = "\N{MINUS SIGN}"
_DASH: Final = "\N{EN DASH}"


def usd(amount: Decimal) -> str:
    """In whole dollars, so that columns line up: `$1,234`; `<$1` for smaller amounts above zero."""
    if 0 < amount < 1:
        return "<$1"
    return _dollars(amount.quantize(_WHOLE, ROUND_HALF_UP))


def cents(amount: Decimal) -> str:
    """To the cent: `$1,234.56`."""
    return _dollars(amount.quantize(_CENT, ROUND_HALF_UP))


def signed(amount: Decimal) -> str:
    """A difference to the cent, with its sign: `+$1,234.56`; `$0.00` if there is none."""
    rounded = amount.quantize(_CENT, ROUND_HALF_UP)
    return f"+{_dollars(rounded)}" if rounded > 0 else _dollars(abs(rounded) if rounded == 0 else rounded)


def span(low: int, high: int) -> str:
    """A range; one number if both ends are equal."""
    return f"{low:,}" if low == high else f"{low:,}{_DASH}{high:,}"


def usd_span(low: Decimal | None, high: Decimal | None) -> str:
    """A price range; empty without a price."""
    if low is None or high is None:
        return ""
    return cents(low) if low == high else f"{cents(low)}{_DASH}{cents(high).removeprefix('$')}"


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun: `1 pool`, `3 pools`."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def sentence(text: str) -> str:
    """With a capital letter at the start, and the rest as it is."""
    return text[:1].upper() + text[1:]


def _dollars(amount: Decimal) -> str:
    return f"{_MINUS if amount < 0 else ''}${abs(amount):,}"


SECTIONS: Final = {
    "changes": "Changes",
    "actions": "What to do",
    "scenarios": "Scenarios",
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
DRAWN: Final = 64  # maximum number of nodes drawn individually; a larger pool is drawn as one node with a count


def page(report: Report) -> str:
    """The whole page."""
    return _environment().get_template("page.html").render(report=report, sections=sections(report))


def sections(report: Report) -> dict[str, str]:
    """Section titles in display order; changes come first if there is a comparison."""
    late = () if report.plan.asked else ("changes", "caveats")
    shown = [name for name in SECTIONS if name != "scenarios" or report.scenarios]
    return {name: SECTIONS[name] for name in (*(name for name in shown if name not in late), *late)}


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
    environment.filters.update(sentence=sentence, usd=usd, cents=cents, signed=signed, counted=counted, kind=kind)
    script = _source(environment, "page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    environment.globals.update(
        verbs=tuple(Verb), nodes=nodes, percent=percent, largest=largest, span=span, usd_span=usd_span, digest=digest
    )
    return environment


def _source(environment: Environment, name: str) -> str:
    if environment.loader is None:
        msg = "the page's environment has no loader"
        raise ValueError(msg)
    return environment.loader.get_source(environment, name)[0]

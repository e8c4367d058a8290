"""What a stack costs, from its settings and dated prices alone: before `up`, without engine and account.

    estimate(platform: Platform, today: date | None = None) -> Estimate
    difference(before: Estimate, after: Estimate) -> Difference

An `Estimate` has `region`, `lines`, `unpriced` (what costs money and is in no sum: `what`, `why`), the sums `amounts`
(`floor`, `expected`, `ceiling` in USD an hour as Decimal; `amounts.month` for 730 hours), and the same by group, the
dearest first: `by_service()`, `by_pool()`, `by_team()`, each a dict of `Amounts`; under None what no pool or team has.
A `Line` has `service`, `pool` (or None), `team` (or None; `shares` where several have parts of it), `item`, `unit`, the
counts `least`, `typical`, `most`, the prices of a unit for an hour `low`, `usual`, `high`, the products `floor`,
`expected`, `ceiling` (`amounts`), `source` (`text`, `day`) and `note`.
A `Difference` has `before`, `after`, `amounts` (what the change adds), `changes` (`line`, `before`, `after`, `amounts`;
the greatest first), and what came to be unpriced (`new`) or no longer is (`gone`).
"""

from slipway.cost import services
from slipway.cost.difference import Change, Difference, difference
from slipway.cost.estimate import estimate
from slipway.cost.model import Amounts, Estimate, Line, Unpriced
from slipway.cost.table import table

__all__ = [
    "Amounts",
    "Change",
    "Difference",
    "Estimate",
    "Line",
    "Unpriced",
    "difference",
    "estimate",
    "services",
    "table",
]

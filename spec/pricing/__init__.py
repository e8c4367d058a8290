"""Cost estimate of a stack, from its settings and dated prices: before `up`, without engine and account.

    estimate(platform: Platform, today: date | None = None) -> Estimate

An `Estimate` has `region`, `lines`, `unpriced` (billable items that are in no sum: `what`, `why`), the sums `amounts`
(`floor`, `expected`, `ceiling` in USD per hour as Decimal; `amounts.month` for 730 hours), and the same by group, the
largest first: `by_service()`, `by_pool()`, `by_team()`, each a dict of `Amounts`; None is the key of the rest.
A `Line` has `service`, `pool` (or None), `team` (or None; `shares` if several have parts of it), `item`, `unit`, the
counts `minimum`, `typical`, `maximum`, the prices of a unit for an hour `low`, `usual`, `high`, the products `floor`,
`expected`, `ceiling` (`amounts`), `source` (`text`, `day`) and `note`.
"""

from spec.pricing import services
from spec.pricing.estimate import estimate
from spec.pricing.model import Amounts, Estimate, Line, Unpriced

__all__ = ["Amounts", "Estimate", "Line", "Unpriced", "estimate", "services"]

"""What `slipway cost` makes of an estimate: tables, documents, differences, and the estimate held against resources.

    difference(before: Estimate, after: Estimate) -> Difference

A `Difference` has `before`, `after`, `amounts` (what the change adds), `changes` (`line`, `before`, `after`, `amounts`;
the greatest first), and what came to be unpriced (`new`) or no longer is (`gone`). Estimates are those of
`spec.pricing`.
"""

from slipway.cost.difference import Change, Difference, difference
from slipway.cost.table import table

__all__ = ["Change", "Difference", "difference", "table"]

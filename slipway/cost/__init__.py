"""Output of `slipway cost`: tables, JSON documents and differences.

    difference(before: Estimate, after: Estimate) -> Difference

A `Difference` has `before`, `after`, `amounts` (what the change adds), `changes` (`line`, `before`, `after`, `amounts`;
largest first), and items that became unpriced (`new`) or no longer are (`gone`). Estimates come from `spec.pricing`.
"""

from slipway.cost.difference import Change, Difference, difference
from slipway.cost.estimates import table

__all__ = ["Change", "Difference", "difference", "table"]

"""What a stack costs by the hour, from its settings and dated prices alone: before `up`, without engine and account."""

from slipway.cost.estimate import estimate
from slipway.cost.model import Estimate, Line, Unpriced
from slipway.cost.table import table

__all__ = ["Estimate", "Line", "Unpriced", "estimate", "table"]

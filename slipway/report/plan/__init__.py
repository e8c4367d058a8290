"""The changes of a stack's resources, from two renderings or from a plan of the engine."""

from slipway.report.plan.changes import NOTHING, Plan, PropertyChange, ResourceChange, Verb, kind

__all__ = ["NOTHING", "Plan", "PropertyChange", "ResourceChange", "Verb", "kind"]

"""What a query does with gauges that each replica of a controller exports."""

import re
from collections.abc import Iterator
from typing import Any, Final

import promql_parser

from spec.catalog.metrics import replicated_gauges

SAME: Final = frozenset({"max", "min", "topk", "bottomk", "quantile", "avg", "group"})
"""Aggregations that don't grow with the number of copies (Prometheus, "Operators", Aggregation operators)."""
_VARIABLE: Final = re.compile(r"\$(__\w+|\{__\w+\})")
"""A variable of Grafana that stands for a duration: `$__range`, `$__rate_interval`."""


def counted_twice(expression: str) -> set[str]:
    """Gauges whose copies an expression adds or lists side by side; none if it is no PromQL.

    A gauge counts once below an aggregation such as `max`, or if a matcher selects the replica by its role.
    """
    try:
        parsed = promql_parser.parse(_VARIABLE.sub("5m", expression))
    except ValueError:
        return set()
    return set(_found(parsed, None))


def _found(node: Any, operator: str | None) -> Iterator[str]:
    for selector in (node, getattr(node, "vector_selector", None)):
        if isinstance(selector, promql_parser.VectorSelector) and operator not in SAME and _copies(selector):
            yield str(selector.name)
    inside = str(node.op) if isinstance(node, promql_parser.AggregateExpr) else operator
    children = [getattr(node, name, None) for name in ("expr", "lhs", "rhs")]
    for child in (*children, *(getattr(node, "args", None) or ())):
        if isinstance(child, promql_parser.Expr):
            yield from _found(child, inside)


def _copies(selector: promql_parser.VectorSelector) -> bool:
    """Whether a selector selects a copy of each replica."""
    label = replicated_gauges().get(str(selector.name), "")
    return label != "" and all(matcher.name != label for matcher in selector.matchers.matchers)

"""What the program's code adds and `extensions` name: where it is, and that it takes no more than a team may."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from policies.checks.sameness import identity_of, named
from policies.resources.access import known_part
from policies.resources.resource import Resource
from policies.resources.tokens import (
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    CONFIG_MAP,
    NAMESPACE,
    PROMETHEUS_RULE,
    SECRET,
)
from policies.rule import ANY, Context, ResourceRule, Violation, setting, violation
from policies.rules.metrics import DASHBOARD
from spec.catalog.software import CHARTS

if TYPE_CHECKING:
    from spec.settings.extensions import Extension

_OF_CLUSTER: Final = (CLUSTER_ROLE, CLUSTER_ROLE_BINDING, NAMESPACE)
"""Kinds without a namespace whose content other rules list. An admission policy, a webhook, a class, a queue, a pool or
a volume changes what teams get, and is of the stack file alone."""
_MONITORING: Final = "monitoring"
_READ_THERE: Final = (CONFIG_MAP, PROMETHEUS_RULE)  # kinds that Grafana's sidecar and Prometheus read there
_SERIES: Final = r"(?!slipway:)[a-z_][a-z0-9_]*:[a-z0-9_:]+"
"""A recorded series that is none of an exporter, whose have no colon (prometheus.io, "Recording rules"), nor ours."""


def _named(one: Resource, context: Context) -> Extension | None:
    """Its entry in `extensions`; none while its name isn't known."""
    return named(context.boundaries, one) if identity_of(one) else None


def _misplaced(one: Resource, context: Context) -> Iterator[Violation]:
    known, (kind, space, name) = context.boundaries, identity_of(one) or ("", "", "")
    if known is None or _named(one, context) is None:
        return
    shared = space == _MONITORING and kind in _READ_THERE and not name.startswith(tuple(CHARTS))
    if space in known.teams or (known.of_platform(space) and not shared) or not (space or kind in _OF_CLUSTER):
        yield violation(one["metadata"], f"the {kind.rpartition(':')[2]} {space}/{name}")


def _beyond_a_team(one: Resource, context: Context) -> Iterator[Violation]:
    """By the expressions that the API server has for teams, without what a preview doesn't know."""
    known, extension = context.boundaries, _named(one, context)
    if known is None or extension is None or one["spec"].unknown:
        return
    # Only a program with extensions needs the evaluator.
    from components.workloads.target import Target  # noqa: PLC0415
    from slipway.why.judge import evaluated  # noqa: PLC0415

    manifest = {**known_part(one.props.raw), "apiVersion": extension.api_version, "kind": extension.kind}
    target = Target(pools={}, namespace=str(extension.namespace), queue=None)
    rules = [rule for rule in known.admission() if rule.name not in context.settings["others"]]
    try:
        for rule, message in evaluated(manifest, target, rules):
            yield Violation(path="", got=f"what {rule.name} refuses to teams: {message}", value=rule.name)
    except (AttributeError, TypeError, ValueError) as error:
        yield Violation(path="", got=f"of another form than a {extension.kind} has ({error})")


def _reserved(one: Resource, context: Context) -> Iterator[Violation]:
    if _named(one, context) is None:
        return
    if one.type in (CONFIG_MAP, SECRET):
        for key, node in one["metadata"]["labels"].fields().items():
            if key.startswith(DASHBOARD.partition("_")[0]) and key != DASHBOARD:
                yield violation(node, f"read by Grafana for {key}")
    for group in one["spec"]["groups"].items() if one.type == PROMETHEUS_RULE else ():
        for series in (rule["record"] for rule in group["rules"].items()):
            if series.known and not re.fullmatch(_SERIES, str(series.raw)):
                yield violation(series)


EXTENSIONS_BOUNDED = ResourceRule(
    name="extensions-bounded",
    types=ANY,
    settings={
        "others": setting("admission rules that bind teams alone", ["job-bounds", "node-selection", "queue-name"])
    },
    finds={
        "place": _misplaced,
        "admission": _beyond_a_team,
        "metrics": _reserved,
    },
    shown={"monitoring": _MONITORING},
    program_only=True,
)

"""Builds a report from its inputs. It is pure, so that tests can build reports from any input."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from policies.runner import Finding
from slipway.cost import difference
from slipway.render.recording import Recording
from slipway.report.advice import Advice, Replayed, Scenario
from slipway.report.model import NONE, Effects, Quota, Report, TeamView
from slipway.report.plan import NOTHING, Plan
from slipway.report.views import cost, inventory, layout, risks
from slipway.report.views.levers import levers
from spec.pools.resolution import resolve_all
from spec.pricing import Estimate
from spec.settings import Loaded


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """The inputs of a report."""

    stack: str
    loaded: Loaded  # its settings
    recording: Recording  # the recorded run of its program
    estimate: Estimate  # its cost estimate
    violations: Sequence[Finding]  # findings of the policy pack, including suppressed ones
    today: date  # date at which the expiry of suppressions is evaluated
    plan: Plan = NOTHING  # the changes of its resources
    before: Estimate | None = None  # cost estimate of the baseline; None if there is none
    effects: Effects = NONE  # what the change from the baseline does to whom
    before_problem: str = ""  # why the baseline has no cost estimate, if one was requested
    commit: str = ""  # commit of the program, for readers; empty if unknown
    data: Mapping[str, Any] = field(default_factory=dict)
    """The stack file's settings, of which changes that save are variants; empty for none."""
    scenarios: tuple[Scenario, ...] = ()  # what was rehearsed
    replayed: Replayed | None = None  # what was found by replays; None if nothing was replayed


def report(inputs: Inputs) -> Report:
    """The report."""
    platform, recording, priced = inputs.loaded.platform, inputs.recording, inputs.estimate
    specs = resolve_all(platform)
    change = None if inputs.before is None else difference(inputs.before, priced)
    pools = inventory.pools(specs.values(), priced)
    quotas = inventory.quotas(platform, specs)
    teams = inventory.teams(platform, priced)
    network = layout.network(platform.network)
    stores = inventory.stores(platform, recording)
    return Report(
        stack=inputs.stack,
        cluster=platform.cluster_name,
        account=platform.account.id,
        region=platform.account.region,
        kubernetes=platform.cluster.version,
        owner=platform.environment.owner,
        protected=platform.environment.protect,
        commit=inputs.commit,
        resources=sum(one.exists for one in recording),
        pools=pools,
        quotas=quotas,
        teams=teams,
        network=network,
        stores=stores,
        software=inventory.releases(recording),
        addons=inventory.addons(recording),
        bill=cost.bill(platform, priced, change, inputs.before_problem),
        evaluation=risks.evaluation(inputs.violations, inputs.stack, inputs.today),
        plan=inputs.plan,
        effects=inputs.effects,
        caveats=risks.caveats(recording, priced, inputs.plan, inputs.loaded.warnings),
        advice=_advice(inputs, quotas, teams),
        map=layout.stack_map(network, pools, quotas, teams, stores),
        scenarios=inputs.scenarios,
    )


def _advice(inputs: Inputs, quotas: Sequence[Quota], teams: Sequence[TeamView]) -> Advice:
    platform, priced, today = inputs.loaded.platform, inputs.estimate, inputs.today
    at_risk = risks.risks(platform, priced, quotas, teams, inputs.violations, today)
    axis, later = risks.months(at_risk, today)
    return Advice(
        largest=cost.largest(priced),
        levers=levers(platform, resolve_all(platform), priced),
        savings=cost.savings(platform, inputs.data, priced, inputs.stack, today) if inputs.data else (),
        risks=at_risk,
        months=axis,
        later=later,
        replayed=inputs.replayed,
    )

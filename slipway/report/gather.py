"""Builds a report from its inputs. It is pure, so that tests can build reports from any input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from policies.runner import Finding
from slipway.cost import difference
from slipway.render.recording import Recording
from slipway.report.advice import Advice
from slipway.report.model import NetworkView, PoolView, Quota, Report, StoreView, TeamView
from slipway.report.plan import NOTHING, Plan
from slipway.report.views import bill, caveats, findings, network, pools, risks, savings, software, storage, teams
from slipway.report.views import map as drawing
from spec.pools.resolution import resolve_all
from spec.pricing import Estimate
from spec.settings import Loaded


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """The inputs of a report.

    Attributes:
        stack: Name of the stack.
        loaded: Its settings.
        recording: The recorded run of its program.
        estimate: Its cost estimate.
        violations: Findings of the policy pack, including suppressed ones.
        today: Date at which the expiry of suppressions is evaluated.
        plan: The changes of its resources.
        before: Cost estimate of the baseline; None if there is none.
        before_problem: Why the baseline has no cost estimate, if one was requested.
        commit: Commit of the program, for readers; empty if unknown.
        data: The stack file's settings, of which changes that save are variants; empty for none.
    """

    stack: str
    loaded: Loaded
    recording: Recording
    estimate: Estimate
    violations: Sequence[Finding]
    today: date
    plan: Plan = NOTHING
    before: Estimate | None = None
    before_problem: str = ""
    commit: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class _Views:
    """The parts that others are made of."""

    pools: tuple[PoolView, ...]
    quotas: tuple[Quota, ...]
    teams: tuple[TeamView, ...]
    network: NetworkView
    stores: tuple[StoreView, ...]


def report(inputs: Inputs) -> Report:
    """The report."""
    platform, recording, cost = inputs.loaded.platform, inputs.recording, inputs.estimate
    specs = resolve_all(platform)
    change = None if inputs.before is None else difference(inputs.before, cost)
    found = _Views(
        pools=pools.pools(specs.values(), cost),
        quotas=teams.quotas(platform, specs),
        teams=teams.teams(platform, cost),
        network=network.network(platform.network),
        stores=storage.stores(platform, recording),
    )
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
        pools=found.pools,
        quotas=found.quotas,
        teams=found.teams,
        network=found.network,
        stores=found.stores,
        software=software.releases(recording),
        addons=software.addons(recording),
        bill=bill.bill(platform, cost, change, inputs.before_problem),
        evaluation=findings.evaluation(inputs.violations, inputs.stack, inputs.today),
        plan=inputs.plan,
        caveats=caveats.caveats(recording, cost, inputs.plan, inputs.loaded.warnings),
        advice=_advice(inputs, found),
        map=drawing.stack_map(found.network, found.pools, found.quotas, found.teams, found.stores),
    )


def _advice(inputs: Inputs, found: _Views) -> Advice:
    platform, cost, today = inputs.loaded.platform, inputs.estimate, inputs.today
    at_risk = risks.risks(platform, cost, found.quotas, found.teams, inputs.violations, today)
    axis, later = risks.months(at_risk, today)
    return Advice(
        largest=savings.largest(cost),
        savings=savings.savings(platform, inputs.data, cost, inputs.stack, today) if inputs.data else (),
        risks=at_risk,
        months=axis,
        later=later,
    )

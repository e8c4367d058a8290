"""Builds a report from its inputs. It is pure, so that tests can build reports from any input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from policies.runner import Finding
from slipway.cost import difference
from slipway.render.recording import Recording
from slipway.report.model import Report
from slipway.report.plan import NOTHING, Plan
from slipway.report.views import bill, caveats, findings, network, pools, software, storage, teams
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


def report(inputs: Inputs) -> Report:
    """The report."""
    platform, recording, cost = inputs.loaded.platform, inputs.recording, inputs.estimate
    specs = resolve_all(platform)
    change = None if inputs.before is None else difference(inputs.before, cost)
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
        pools=pools.pools(specs.values(), cost),
        quotas=teams.quotas(platform, specs),
        teams=teams.teams(platform, cost),
        network=network.network(platform.network),
        stores=storage.stores(platform, recording),
        software=software.releases(recording),
        addons=software.addons(recording),
        bill=bill.bill(platform, cost, change, inputs.before_problem),
        evaluation=findings.evaluation(inputs.violations, inputs.stack, inputs.today),
        plan=inputs.plan,
        caveats=caveats.caveats(recording, cost, inputs.plan, inputs.loaded.warnings),
    )

"""Puts a report together from what was found out: pure, so a test can make one of anything."""

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
class Findings:
    """All that a report is made from.

    Attributes:
        stack: Name of the stack.
        loaded: Its settings.
        recording: Its program, run without an engine.
        estimate: What it costs.
        violations: What the policy pack found, suppressed or not.
        today: Day on which suppressions are findings.
        plan: What a change does to it.
        before: What it cost at the commit that it is compared with; None where that is not known.
        before_problem: Why it is not known, where it was asked for.
        commit: Commit of the program, for a reader; empty where there is none.
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


def report(found: Findings) -> Report:
    """The report."""
    platform, recording, cost = found.loaded.platform, found.recording, found.estimate
    specs = resolve_all(platform)
    change = None if found.before is None else difference(found.before, cost)
    return Report(
        stack=found.stack,
        cluster=platform.cluster_name,
        account=platform.account.id,
        region=platform.account.region,
        kubernetes=platform.cluster.version,
        owner=platform.environment.owner,
        protected=platform.environment.protect,
        commit=found.commit,
        resources=sum(one.custom for one in recording),
        pools=pools.pools(specs.values(), cost),
        quotas=teams.quotas(platform, specs),
        teams=teams.teams(platform, cost),
        network=network.network(platform.network),
        stores=storage.stores(platform, recording),
        software=software.releases(recording),
        addons=software.addons(recording),
        bill=bill.bill(platform, cost, change, found.before_problem),
        evaluation=findings.evaluation(found.violations, found.stack, found.today),
        plan=found.plan,
        caveats=caveats.caveats(recording, cost, found.plan, found.loaded.warnings),
    )

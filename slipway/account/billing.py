"""Cost Explorer: tags that budgets filter by, and the account's one anomaly monitor of services."""

from __future__ import annotations

from collections.abc import Iterator

from slipway.account.context import Context, failed, note, ok
from slipway.findings import Finding


def tags(context: Context) -> Iterator[Finding]:
    """Tags by which budgets count are activated for cost allocation: until then such a budget reads 0."""
    cost = context.platform.cost
    needed = set()
    if cost.monthly_budget_usd is not None and cost.budget_covers == "environment":
        needed.add("environment")
    if cost.team_budgets and any(team.budget_usd for team in context.platform.teams.values()):
        needed.add("team")
    if not needed:
        return
    client = context.client("ce")
    answer = client.list_cost_allocation_tags(TagKeys=sorted(needed), Type="UserDefined")
    active = {tag["TagKey"] for tag in answer["CostAllocationTags"] if tag["Status"] == "Active"}
    inactive = sorted(needed - active)
    if inactive:
        fix = (
            "in the payer account: `aws ce update-cost-allocation-tags-status --cost-allocation-tags-status "
            + " ".join(f"TagKey={key},Status=Active" for key in inactive)
            + "`, a day after the tag was first used"
        )
        yield note("cost allocation tags", f"{', '.join(inactive)}: not active, so budgets by it read 0", fix)
    else:
        yield ok("cost allocation tags", f"{', '.join(sorted(needed))}: active")


def anomaly_monitor(context: Context) -> Iterator[Finding]:
    """The stack creates a monitor of services only if the account has none, and names one that exists."""
    cost = context.platform.cost
    if cost.anomaly_usd is None:
        return
    answer = context.client("ce").get_anomaly_monitors()
    monitors = {each["MonitorArn"]: each for each in answer["AnomalyMonitors"]}
    # Names begin with the project and the stack (Pulumi.yaml, pulumi:autonaming).
    own = f"slipway-{context.platform.environment.name}-"
    services = [
        arn
        for arn, each in monitors.items()
        if each["MonitorType"] == "DIMENSIONAL"
        and each.get("MonitorDimension") == "SERVICE"
        and not each["MonitorName"].startswith(own)
    ]
    named = cost.anomaly_monitor_arn
    if named is not None and named not in monitors:
        yield failed("anomaly monitor", f"{named} does not exist", "take one from `aws ce get-anomaly-monitors`")
    elif named is None and services:
        fix = f"set cost.anomalyMonitorArn: {services[0]}"
        yield failed("anomaly monitor", "the account has one of services, and allows no second", fix)
    else:
        yield ok("anomaly monitor", named or "none but the stack's own")

"""Cost guards by themselves, on a cluster that exists: for programs that have no stack file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

import pulumi

from components.base.operator import object_with
from components.base.outputs import Cluster, misnamed
from components.composition.cost_guards import GuardsArgs, guards
from components.composition.cron_jobs import CronJobs
from components.composition.scripts import scripts
from components.observability.notifications import NotificationsArgs
from components.observability.recording import GPU_ACTIVE, gpus
from components.observability.rules import API, groups_of_records
from components.workloads.serving.scaling import PROMETHEUS
from spec.pools.pool_spec import PoolSpec
from spec.settings.cost import Cost
from spec.settings.notifications import Notifications
from spec.settings.parts import part, plain_map
from spec.settings.problems import ConfigurationError, Problem

_ESTIMATED: Final = ("limits", "usage", "teamBudgets")
"""What only a whole stack has: an estimate, and settings of teams."""


@dataclass(frozen=True, kw_only=True)
class CostGuardsArgs:
    """Inputs of `CostGuards`.

    Attributes:
        cluster: The cluster; with `settings.idleGpus` it has Kueue, and Prometheus with its operator.
        settings: Guards as in a stack file below `cost`: `{"monthlyBudgetUsd": 5000, "idleGpus": {}, "schedules": {}}`.
        notifications: Who gets messages of budgets and anomalies, as in a stack file: `{"emails": [...]}`.
        pools: Pools of Karpenter that schedules stop.
        namespaces: Namespaces whose notebooks stop, and whose idle GPUs are taken back.
        budgets: Monthly budgets of teams in USD, over resources with the tag `team` of that value.
        environment: Value of the tag `environment` that a budget with `budgetCovers: environment` counts; the name of
            the cluster by default.
        prefix: Begins the names of the namespace of CronJobs (`PREFIX-schedules`) and of roles, and ends that of the
            topic (`CLUSTER-PREFIX`); the logical name by default.
        prometheus: URL of Prometheus in the cluster; that of a stack by default.
        rule_labels: Labels by which Prometheus selects its rules; by default what the chart kube-prometheus-stack
            selects in a release of its own name (`ruleSelectorNilUsesHelmValues`).
        after: Namespaces and CRDs, if the same program makes them.
    """

    cluster: Cluster
    settings: Annotated[Mapping[str, Any], Cost]
    notifications: Annotated[Mapping[str, Any], Notifications] = field(default_factory=dict)
    pools: Sequence[PoolSpec] = ()
    namespaces: Sequence[str] = ()
    budgets: Mapping[str, int] = field(default_factory=dict)
    environment: str = ""
    prefix: str = ""
    prometheus: str = PROMETHEUS
    rule_labels: Mapping[str, str] = field(default_factory=lambda: {"release": "kube-prometheus-stack"})
    after: Sequence[pulumi.Resource] = ()


class CostGuards(pulumi.ComponentResource):
    """Budgets and anomaly detection with their topic, scheduled shutdown of pools and notebooks, and GPUs that go back
    to the queue when a job doesn't use them: each only where configured, and nothing that another program has, too.

    Attributes:
        topic: ARN of the topic; empty if nobody gets messages.

    Raises:
        ConfigurationError: For settings that a stack file may not have either, or that need a whole stack.
    """

    PULUMI_TYPE: Final = "slipway:cost:CostGuards"

    topic: str

    def __init__(self, name: str, args: CostGuardsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        cluster, prefix = args.cluster, args.prefix or name
        pools = {spec.name: spec.settings for spec in args.pools}
        recipients = part(Notifications, "notifications", args.notifications)
        cost = part(Cost, "cost", args.settings, {"pools": pools, "notifications": recipients})
        if wrong := [*_problems(args, cost, recipients), *misnamed({"prefix": prefix})]:
            raise ConfigurationError(wrong, f"cost guards {name}")
        jobs = CronJobs(prefix=prefix, systems=False)
        self.topic = f"arn:{cluster.partition}:sns:{cluster.region}:{cluster.account_id}:{cluster.owner}-{prefix}"
        if not recipients.wanted:
            self.topic = ""
        scripted = scripts(args.namespaces, jobs=jobs, idle=cost.idle_gpus, prometheus=args.prometheus)
        if "idle" in scripted:
            allowed, run = scripted["idle"]
            scripted["idle"] = (allowed, {**run, "rule": _rule(jobs, args.rule_labels)})
        inputs = GuardsArgs(
            settings=cost,
            environment=args.environment or cluster.name,
            cluster=cluster,
            pools=pools,
            managed={},
            namespaces=dict.fromkeys(args.namespaces, args.after),
            budgets=args.budgets,
            notifications=NotificationsArgs(settings=recipients, topic=self.topic, cluster=cluster.owner)
            if self.topic
            else None,
            scripts=scripted,
            jobs=jobs,
        )
        child = pulumi.ResourceOptions(parent=self)
        guards(inputs, child, child, within=f"{name}-")
        self.register_outputs({"topic": self.topic})


def _problems(args: CostGuardsArgs, cost: Cost, recipients: Notifications) -> Iterator[Problem]:
    given = plain_map(args.settings)
    for key in _ESTIMATED:
        if key in given:
            rule = "only a whole stack has this"
            yield Problem(f"cost.{key}", rule, given[key], "Remove it; budgets of teams are the input `budgets`.")
    managed = {spec.name for spec in args.pools if spec.managed}
    for key, schedule in cost.schedules.items():
        for pool in managed.intersection(schedule.pools):
            rule = "only pools of Karpenter stop by a schedule here"
            yield Problem(f"cost.schedules.{key}.pools", rule, pool, "Remove it.")
        if schedule.notebooks and not args.namespaces:
            yield Problem("namespaces", f"schedule {key} ends the notebooks of some", None, "Name them.")
    if cost.idle_gpus and not args.namespaces:
        yield Problem("namespaces", "idle GPUs are taken back from jobs in some", None, "Name them.")
    if args.budgets and not recipients.wanted:
        yield Problem("budgets", "their notifications need a recipient", dict(args.budgets), "Add `notifications`.")
    yield from (
        Problem(f"budgets.{team}", "a budget has at least 1 USD", usd, "Raise it.")
        for team, usd in args.budgets.items()
        if usd < 1
    )


def _rule(jobs: CronJobs, labels: Mapping[str, str]) -> dict[str, Any]:
    """The recording rule that the script for idle GPUs asks for."""
    groups = groups_of_records({"gpus": [one for one in gpus() if one.name == GPU_ACTIVE]})
    meta = {"name": jobs.named("gpus"), "namespace": jobs.namespace.name, "labels": dict(labels)}
    return object_with(API, "PrometheusRule", meta, spec={"groups": groups})

"""Notifications, budgets, scheduled scaling and notebook shutdown: resources, permissions, and nothing by default."""

import json
from typing import Any, Final

import pulumi
import pulumi_aws as aws

from components.base.kubernetes import type_token
from components.composition.cost_guards import GuardsArgs, guards, permissions, pool_jobs, shutdown_job
from components.composition.cron_jobs import NAMESPACE
from components.composition.node_pools import NodePoolContext, managed_pools
from components.cost import actions, budgets, notifications
from components.observability.notifications import subscribers
from infra import facts
from spec.pools import resolve_all
from spec.settings.cost import Cost, Schedule
from spec.settings.notifications import Notifications
from tests.components.pools.samples import platform
from tests.support.mocks import ACCOUNT, REGION, Recording, providers, run
from tests.support.outputs import cluster_outputs, network_outputs

POOLS: Final[dict[str, dict[str, Any]]] = {
    "a100": {"preset": "a100", "provisioner": "managed", "min": 1, "max": 4},
    "cpu": {"preset": "cpu"},
}
TEAMS: Final = {
    "nlp": {"project": "llm", "costCenter": "research", "budgetUsd": 100, "cpus": {"cpu": {"nominalQuota": 4}}}
}
NOTIFICATIONS: Final = {"emails": ["ml-platform@example.com"], "https": ["https://hooks.example/a/b"]}
SCHEDULE: Final = {"stop": "0 20 * * MON-FRI", "start": "0 7 * * MON-FRI", "timezone": "Europe/Paris"}
TOPIC: Final = f"arn:aws:sns:{REGION}:{ACCOUNT}:slipway-test-notices"


def record_guards(**parts: Any) -> Recording:
    def build() -> None:
        both = providers()
        opts = pulumi.ResourceOptions(providers=both)
        settings = platform(POOLS, **parts)
        cluster = cluster_outputs(both[0])
        context = NodePoolContext(
            specs=resolve_all(settings),
            cluster=cluster,
            network=network_outputs("abc"),
            isolated=False,
            charts=settings.charts,
            opts=opts,
        )
        args = GuardsArgs(
            settings=settings.cost,
            environment="test",
            cluster=cluster,
            pools=settings.pools,
            managed=managed_pools(context).pools,
            namespaces={each: () for name, team in settings.teams.items() for each in team.namespaces_of(name)},
            budgets=facts.of_budgets(settings),
            notifications=facts.of_notifications(settings),
            scripts=facts.of_scripts(settings),
            jobs=facts.of_cron_jobs(settings),
        )
        guards(args, opts, opts)

    return run(build)


def cost(**settings: Any) -> Cost:
    return Cost.model_validate_json(json.dumps(settings))


def test_nothing_is_declared_without_settings() -> None:
    recording = record_guards(teams=TEAMS)
    assert not [one for one in recording if one.type.startswith(("aws:sns", "aws:budgets", "aws:costexplorer"))]
    assert recording.of(aws.autoscaling.Schedule) == {}
    assert recording.default_provider_users == ()


def test_the_topic_has_the_name_in_alertmanagers_configuration() -> None:
    recording = record_guards(notifications=NOTIFICATIONS)
    topic = recording.one(aws.sns.Topic).inputs
    assert topic["name"] == TOPIC.rpartition(":")[2]
    assert facts.topic(platform(POOLS, notifications=NOTIFICATIONS)) == TOPIC
    assert facts.topic(platform(POOLS)) is None


def test_only_budgets_and_anomaly_detection_of_this_account_can_publish() -> None:
    recording = record_guards(notifications=NOTIFICATIONS)
    services, tls = json.loads(recording.one(aws.sns.TopicPolicy).inputs["policy"])["Statement"]
    assert services["Principal"] == {"Service": ["budgets.amazonaws.com", "costalerts.amazonaws.com"]}
    assert services["Condition"] == {"StringEquals": {"aws:SourceAccount": [ACCOUNT]}}
    assert (services["Resource"], services["Action"]) == ([TOPIC], ["sns:Publish"])
    assert (tls["Effect"], tls["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": ["false"]}})
    key = recording.of(aws.kms.Key)["notices-key"].inputs
    assert key["enableKeyRotation"] is True
    use = json.loads(key["policy"])["Statement"][1]
    assert use["Principal"] == services["Principal"]
    assert use["Condition"] == services["Condition"]


def test_each_subscriber_has_its_own_name() -> None:
    by_name = subscribers(Notifications.model_validate_json(json.dumps(NOTIFICATIONS)))
    assert by_name == {
        "email-ml-platform-example-com": ("email", "ml-platform@example.com"),
        "https-hooks-example-a-b": ("https", "https://hooks.example/a/b"),
    }
    assert len(record_guards(notifications=NOTIFICATIONS).of(aws.sns.TopicSubscription)) == 2


def test_budgets_filter_by_environment_and_team_tags() -> None:
    assert facts.of_budgets(platform(POOLS, teams=TEAMS)) == {}
    assert budgets(cost(), "dev", {}) == {}
    account = budgets(cost(monthlyBudgetUsd=5000), "dev", {})
    assert {name: (each.usd, dict(each.filters)) for name, each in account.items()} == {"environment": (5000, {})}
    teams = facts.of_budgets(platform(POOLS, teams=TEAMS, cost={"teamBudgets": True}))
    shared = budgets(cost(monthlyBudgetUsd=5000, budgetCovers="environment"), "dev", teams)
    assert shared["environment"].filters == {"TagKeyValue": ["user:environment$dev"]}
    assert (shared["team-nlp"].usd, shared["team-nlp"].filters) == (100, {"TagKeyValue": ["user:team$nlp"]})


def test_notifications_are_sent_at_thresholds_and_for_the_forecast() -> None:
    thresholds = notifications([50, 100])
    expected = [("ACTUAL", 50), ("ACTUAL", 100), ("FORECASTED", 100)]
    assert [(each["notification_type"], each["threshold"]) for each in thresholds] == expected


def test_budgets_and_anomaly_detection_depend_on_the_topic_policy() -> None:
    recording = record_guards(
        notifications=NOTIFICATIONS,
        cost={"monthlyBudgetUsd": 5000, "anomalyUsd": 100, "createAnomalyMonitor": True, "allocationTags": ["team"]},
    )
    budget = recording.one(aws.budgets.Budget)
    assert all(len(each["subscriberSnsTopicArns"]) == 1 for each in budget.inputs["notifications"])
    assert (budget.inputs["limitAmount"], budget.inputs["accountId"]) == ("5000", ACCOUNT)
    watch = recording.one(aws.costexplorer.AnomalySubscription)
    assert watch.inputs["frequency"] == "IMMEDIATE"
    assert watch.inputs["thresholdExpression"]["dimension"]["values"] == ["100"]
    for one in (budget, watch):
        assert recording.waits(one, recording.one(aws.sns.TopicPolicy))
    assert recording.one(aws.costexplorer.CostAllocationTag).inputs["tagKey"] == "team"


def test_an_existing_anomaly_monitor_is_used() -> None:
    arn = f"arn:aws:ce::{ACCOUNT}:anomalymonitor/01234567-89ab-4cde-8f01-23456789abcd"
    recording = record_guards(notifications=NOTIFICATIONS, cost={"anomalyUsd": 100, "anomalyMonitorArn": arn})
    assert recording.of(aws.costexplorer.AnomalyMonitor) == {}
    assert recording.one(aws.costexplorer.AnomalySubscription).inputs["monitorArnLists"] == [arn]


def test_a_pool_goes_to_zero_at_night_and_comes_back_with_its_own_bounds() -> None:
    guarded = record_guards(cost={"schedules": {"nights": {**SCHEDULE, "pools": ["a100"]}}})
    recording, sizes = guarded.of(aws.autoscaling.Schedule), ("minSize", "maxSize", "desiredCapacity")
    bounds = {name: tuple(one.inputs[key] for key in sizes) for name, one in recording.items()}
    assert bounds == {"schedules-a100-start": (1, 4, 1), "schedules-a100-stop": (0, 0, 0)}
    stop = recording["schedules-a100-stop"].inputs
    assert (stop["recurrence"], stop["timeZone"]) == ("0 20 * * MON-FRI", "Europe/Paris")
    assert stop["autoscalingGroupName"]


def test_the_order_of_actions_does_not_depend_on_the_stack_file() -> None:
    pools = platform({**POOLS, "b": {"preset": "cpu", "provisioner": "managed"}}).pools
    schedules = {
        name: Schedule.model_validate_json(json.dumps({**SCHEDULE, "pools": [pool]}))
        for name, pool in (("z", "a100"), ("y", "b"))
    }
    expected = [("a100", "start"), ("a100", "stop"), ("b", "start"), ("b", "stop")]
    assert [(each.pool, each.role) for each in actions(schedules, pools)] == expected


def test_notebooks_are_shut_down_in_every_team_namespace() -> None:
    evenings = {"evenings": {"stop": "0 20 * * *", "notebooks": True}}
    recording = record_guards(teams=TEAMS, cost={"schedules": evenings})
    jobs = recording.of(type_token("batch/v1", "CronJob"))
    assert set(jobs) == {"evenings-nlp-evenings"}
    labels = recording.one(type_token("v1", "Namespace")).inputs["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"
    assert record_guards(cost={"schedules": evenings}).of(type_token("batch/v1", "CronJob")) == {}


def test_the_shutdown_can_only_delete_pods_and_selects_notebooks() -> None:
    schedule = Schedule.model_validate_json(json.dumps({"stop": "0 20 * * *", "notebooks": True}))
    job = shutdown_job("evenings", schedule, "nlp", "1.35")
    spec = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    assert container["args"][:2] == ["delete", "pods"]
    assert {"--namespace=nlp", "--selector=platform.slipway/notebook"} <= set(container["args"])
    assert container["image"] == "registry.k8s.io/kubectl:v1.35.0"
    assert (job["spec"]["schedule"], job["spec"]["timeZone"]) == ("0 20 * * *", "UTC")
    role, binding = permissions("nlp")["role"], permissions("nlp")["binding"]
    assert role["rules"] == [{"apiGroups": [""], "resources": ["pods"], "verbs": ["delete", "get", "list"]}]
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "schedules", "namespace": NAMESPACE.name}]
    assert role["metadata"]["namespace"] == binding["metadata"]["namespace"] == "nlp"


def test_a_pool_of_karpenter_launches_nothing_at_night_and_drains() -> None:
    recording = record_guards(cost={"schedules": {"nights": {**SCHEDULE, "pools": ["cpu"]}}}, teams=TEAMS)
    assert recording.of(aws.autoscaling.Schedule) == {}
    objects = {name: one.inputs for name, one in recording.of(type_token("batch/v1", "CronJob")).items()}
    assert set(objects) == {"evenings-pool-cpu-stop", "evenings-pool-cpu-start"}
    commands = {
        name: [
            " ".join(one["args"])
            for pod in [job["spec"]["jobTemplate"]["spec"]["template"]["spec"]]
            for one in [*pod.get("initContainers", ()), *pod["containers"]]
        ]
        for name, job in objects.items()
    }
    patch = 'patch nodepools.karpenter.sh cpu --type=merge --patch={"spec": {"limits": {"nodes": "%d"}}}'
    assert commands == {
        "evenings-pool-cpu-stop": [
            patch % 0, "delete nodeclaims.karpenter.sh --selector=karpenter.sh/nodepool in (cpu) --wait=false",
        ],
        "evenings-pool-cpu-start": [patch % 10],
    }  # fmt: skip
    assert {job["spec"]["schedule"] for job in objects.values()} == {SCHEDULE["stop"], SCHEDULE["start"]}
    assert {job["spec"]["timeZone"] for job in objects.values()} == {"Europe/Paris"}
    role = recording.of(type_token("rbac.authorization.k8s.io/v1", "ClusterRole"))["evenings-pools-role"].inputs
    assert [(one["resources"], one.get("resourceNames"), one["verbs"]) for one in role["rules"]] == [
        (["nodepools"], ["cpu"], ["get", "patch"]),
        (["nodeclaims"], None, ["delete", "get", "list"]),
    ]
    # No notebook is ended by it.
    assert recording.of(type_token("rbac.authorization.k8s.io/v1", "Role")) == {}


def test_fallbacks_stop_with_their_pool_and_start_with_their_own_maximum() -> None:
    jobs = pool_jobs("cpu", Schedule.model_validate(SCHEDULE), {"cpu": 10, "cpu-spot": 3}, "1.35")
    start = jobs["start"]["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    args = [one["args"] for one in [*start["initContainers"], *start["containers"]]]
    assert [(one[2], json.loads(one[-1].partition("=")[2])["spec"]["limits"]["nodes"]) for one in args] == [
        ("cpu", "10"), ("cpu-spot", "3"),
    ]  # fmt: skip
    stop = jobs["stop"]["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    assert len(stop["initContainers"]) == 2
    assert "--selector=karpenter.sh/nodepool in (cpu,cpu-spot)" in stop["containers"][0]["args"]

"""Karpenter in the cluster: releases, role, and dependencies."""

import json
from pathlib import Path
from typing import Any

import pulumi_aws as aws
import pytest
import yaml
from pulumi_kubernetes.helm.v3 import Release

from components.addons.karpenter import EVENTS, Gates, event_pattern, queue_policy, values
from components.addons.karpenter_policy import Scope, controller_policy
from spec.settings.checks import names
from tests.components.pools.samples import record_fleet, spec
from tests.support.mocks import Recording, statements

QUEUE = "arn:aws:sqs:us-east-1:111122223333:queue"
RULES = "arn:aws:events:us-east-1:111122223333:rule/*"


@pytest.fixture(scope="module")
def interruptions() -> Recording:
    return record_fleet({"cpu": {"preset": "cpu"}})


def test_only_event_rules_of_this_account_send_messages() -> None:
    statement = statements(queue_policy(QUEUE, RULES))["EventsWrite"]
    assert statement["Action"] == ["sqs:SendMessage"]
    assert statement["Principal"] == {"Service": ["events.amazonaws.com"]}
    assert statement["Condition"] == {"ArnLike": {"aws:SourceArn": [RULES]}}


def test_requests_without_tls_are_denied() -> None:
    statement = statements(queue_policy(QUEUE, RULES))["TlsOnly"]
    assert (statement["Effect"], statement["Action"]) == ("Deny", ["sqs:*"])
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": ["false"]}}


def test_every_kind_of_event_reaches_the_queue(interruptions: Recording) -> None:
    rules = interruptions.of(aws.cloudwatch.EventRule)
    targets = interruptions.of(aws.cloudwatch.EventTarget)
    assert sorted(rules) == sorted(f"karpenter-{key}" for key in EVENTS)
    for key, event in EVENTS.items():
        rule, target = rules[f"karpenter-{key}"], targets[f"karpenter-{key}-target"]
        assert json.loads(rule.inputs["eventPattern"]) == {"source": [event.source], "detail-type": [event.detail_type]}
        assert target.input_sources["rule"] == (rule.urn,)
        assert target.input_sources["arn"] == (interruptions.one(aws.sqs.Queue).urn,)


def test_event_patterns_are_deterministic() -> None:
    assert event_pattern(EVENTS["spot"]) == (
        '{"detail-type": ["EC2 Spot Instance Interruption Warning"], "source": ["aws.ec2"]}'
    )


def test_the_longest_rule_name_is_the_one_that_limits_stack_names() -> None:
    assert max((f"karpenter-{key}" for key in EVENTS), key=len) == names.LONGEST["event-rule"]


def test_events_are_those_of_upstreams_template(shared: Path) -> None:
    text = (shared / "charts/karpenter/controller-iam-cloudformation.yaml").read_text()
    assert all(f"- {event.detail_type}\n" in text and f"- {event.source}\n" in text for event in EVENTS.values())
    assert text.count("AWS::Events::Rule") == len(EVENTS)


ROLE = "arn:aws:iam::111122223333:role/nodes"
QUEUE_ARN = "arn:aws:sqs:us-east-1:111122223333:queue"
SCOPE = Scope(
    cluster="ml",
    cluster_arn="arn:aws:eks:us-east-1:111122223333:cluster/ml",
    partition="aws",
    region="us-east-1",
    account_id="111122223333",
)
CONTROLLER = controller_policy(SCOPE, node_role_arn=ROLE, queue_arn=QUEUE_ARN)
ALLOWED = statements(CONTROLLER)
NOT_USED = {"arc-zonal-shift:GetManagedResource", "iam:AddRoleToInstanceProfile", "iam:CreateInstanceProfile",
    "iam:DeleteInstanceProfile", "iam:RemoveRoleFromInstanceProfile", "iam:TagInstanceProfile"}  # fmt: skip
"""Actions of upstream's template that this platform doesn't use."""


def test_the_policy_fits_in_a_role() -> None:
    # 10,240 characters without whitespace (IAM User Guide, "IAM and AWS STS quotas", inline policies of a role).
    assert len(CONTROLLER) < 10_240


def test_it_can_pass_only_its_own_node_role_to_ec2() -> None:
    statement = ALLOWED["PassNodeRole"]
    assert statement["Resource"] == [ROLE]
    assert statement["Condition"]["StringEquals"]["iam:PassedToService"][0] == "ec2.amazonaws.com"


@pytest.mark.parametrize("sid", ["DeleteOwn", "NameOwnMachines", "LaunchFromOwnTemplates"])
def test_it_changes_only_resources_with_its_clusters_tag(sid: str) -> None:
    condition = ALLOWED[sid]["Condition"]
    assert condition["StringEquals"] == {"aws:ResourceTag/kubernetes.io/cluster/ml": ["owned"]}
    assert condition["StringLike"] == {"aws:ResourceTag/karpenter.sh/nodepool": ["*"]}


@pytest.mark.parametrize("sid", ["LaunchTagged", "TagAtLaunch"])
def test_what_it_creates_is_tagged_at_creation(sid: str) -> None:
    condition = ALLOWED[sid]["Condition"]
    assert condition["StringEquals"]["aws:RequestTag/kubernetes.io/cluster/ml"] == ["owned"]
    assert condition["StringEquals"]["aws:RequestTag/eks:eks-cluster-name"] == ["ml"]


def test_it_sets_any_tag_at_launch_and_later_only_the_name() -> None:
    assert ALLOWED["TagAtLaunch"]["Condition"]["StringEquals"]["ec2:CreateAction"] == [
        "CreateFleet",
        "CreateLaunchTemplate",
        "RunInstances",
    ]
    assert "ec2:CreateAction" not in ALLOWED["LaunchTagged"]["Condition"]["StringEquals"]
    assert ALLOWED["NameOwnMachines"]["Condition"]["ForAllValues:StringEquals"]["aws:TagKeys"] == [
        "Name",
        "eks:eks-cluster-name",
        "karpenter.sh/nodeclaim",
    ]


def test_actions_on_all_resources_only_read() -> None:
    open_to_all = [action for s in ALLOWED.values() if s["Resource"] == ["*"] for action in s["Action"]]
    assert all(action.partition(":")[2].startswith(("Describe", "Get", "List")) for action in open_to_all)


def test_another_partition_has_its_own_arns() -> None:
    china = Scope(
        cluster="ml", cluster_arn="arn:aws-cn:x", partition="aws-cn", region="cn-north-1", account_id="111122223333"
    )
    text = controller_policy(china, node_role_arn="arn:aws-cn:role", queue_arn="arn:aws-cn:queue")
    assert "arn:aws:" not in text


def upstream(shared: Path) -> dict[str, set[str]]:
    """Condition keys by action, in upstream's CloudFormation template."""

    class Loader(yaml.SafeLoader):
        pass

    Loader.add_multi_constructor("!", lambda loader, _, node: loader.construct_scalar(node))
    text = (shared / "charts/karpenter/controller-iam-cloudformation.yaml").read_text()
    resources = yaml.load(text, Loader=Loader)["Resources"]  # noqa: S506 - a SafeLoader
    keys_by_action: dict[str, set[str]] = {}
    for resource in resources.values():
        if resource["Type"] == "AWS::IAM::ManagedPolicy":
            document = resource["Properties"]["PolicyDocument"].replace("${ClusterName}", "ml")
            for statement in json.loads(document)["Statement"]:
                add(keys_by_action, statement)
    return keys_by_action


def add(keys_by_action: dict[str, set[str]], statement: dict[str, Any]) -> None:
    actions = statement["Action"]
    keys = {key for operator in statement.get("Condition", {}).values() for key in operator}
    for action in [actions] if isinstance(actions, str) else actions:
        keys_by_action.setdefault(action, set()).update(keys)


def test_actions_and_conditions_equal_upstreams_without_unused_ones(shared: Path) -> None:
    ours: dict[str, set[str]] = {}
    for statement in ALLOWED.values():
        add(ours, statement)
    assert ours == {action: keys for action, keys in upstream(shared).items() if action not in NOT_USED}


GATES = Gates(node_repair=True, node_overlay=True, reserved_capacity=False)
RESERVED = {"market": "reserved", "reservation": {"kind": "odcr", "id": "cr-0a1b2c3d4e5f67890"}}


def chart_values(**more: Any) -> dict[str, Any]:
    arguments = {"cluster": "ml", "queue": "q", "gates": GATES, "isolated": False, "pods_apart": False, **more}
    return values(**arguments)


def test_feature_gates_are_enabled_if_a_pool_needs_them() -> None:
    cpu, sliced = spec(preset="cpu", nodeRepair=False), spec(preset="a100", mig={"layout": "all-1g.5gb"})
    assert Gates.of([cpu]) == Gates(node_repair=False, node_overlay=False, reserved_capacity=False)
    assert Gates.of([cpu, sliced]) == Gates(node_repair=True, node_overlay=True, reserved_capacity=False)
    assert chart_values(gates=Gates.of([cpu]))["settings"]["featureGates"] == {
        "nodeOverlay": False,
        "nodeRepair": False,
        "reservedCapacity": False,
        "spotToSpotConsolidation": True,
    }


def test_open_reservations_are_used_unless_a_pool_names_a_reservation() -> None:
    cpu, reserved = spec(preset="cpu"), spec(preset="h100", capacity=RESERVED)
    for pools, named in (([cpu], False), ([cpu, reserved], True)):
        gates = chart_values(gates=Gates.of(pools))["settings"]["featureGates"]
        assert gates["reservedCapacity"] is named


def test_it_reads_the_interruption_queue() -> None:
    assert chart_values(queue="interruptions")["settings"]["interruptionQueue"] == "interruptions"


def test_one_interface_is_reserved_if_pods_have_their_own_subnets() -> None:
    assert chart_values(pods_apart=True)["settings"]["reservedENIs"] == "1"
    assert chart_values(pods_apart=False)["settings"]["reservedENIs"] == "0"


def test_two_replicas_run_on_the_system_pool_without_cluster_dns(interruptions: Recording) -> None:
    assert chart_values()["replicas"] == 2
    released = interruptions.of(Release)["karpenter-release"].inputs["values"]
    assert released["nodeSelector"] == {"platform.slipway/role": "system"}
    assert chart_values()["dnsPolicy"] == "Default"

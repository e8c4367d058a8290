"""What a plan replaces or deletes, and the gate that refuses it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pulumi_aws
import pulumi_kubernetes
import pytest

from slipway.engine.gate import TABLE, Forced, Removal, among, check_names, evaluate, refusal, removals
from slipway.engine.invocation import Operation, Request
from slipway.engine.protection import refuse_interrupted, refuse_protected
from slipway.engine.state import StackState, parse
from spec.errors import EXIT_PROTECTED, EXIT_REFUSED, SlipwayError
from tests.slipway.engine.fake import exported, resource
from tests.support.cases import beside

CASES: Final = beside(__file__)

# What a plan replaces or deletes, from event logs: a recorded one, and small made-up ones for other cases.


RECORDED = Path(__file__).with_name("plans") / "another-service-range.jsonl"
"""Events of `pulumi preview` (v3.258.0) on stack dev with another `cluster.serviceIpv4Cidr` and without pool `cpu`,
reduced to five resources and the inputs that matter here."""
BUCKET = "aws:s3/bucket:Bucket"


def urn(kind: str, name: str = "it") -> str:
    return f"urn:pulumi:dev::slipway::{kind}::{name}"


def event(op: str, kind: str = BUCKET, name: str = "it", **more: Any) -> str:
    step = {"op": op, "urn": urn(kind, name), "type": kind, **more}
    return json.dumps({"sequence": 1, "resourcePreEvent": {"metadata": step, "planning": True}}) + "\n"


def test_a_recorded_plan_has_its_removals_and_what_forces_them() -> None:
    with RECORDED.open() as lines:
        by_name = {removal.urn.rpartition("::")[2]: removal for removal in removals(lines)}
    assert set(by_name) == {
        "cluster-autoscaler-association",
        "cluster-control-plane",
        "pool-cpu-node-pool",
        "pool-h100-node-pool",
        "pool-system-node-group",
    }
    assert {removal.operation for removal in by_name.values()} == {"replace"}
    assert by_name["cluster-control-plane"].forced == (
        Forced(path="kubernetesNetworkConfig.serviceIpv4Cidr", old='"172.20.0.0/16"', new='"10.200.0.0/16"'),
    )
    assert by_name["pool-system-node-group"].inputs["labels"]["platform.slipway/role"] == "system"


@pytest.mark.parametrize("op", ["same", "update", "create", "read", "refresh", "import", "remove-pending-replace"])
def test_a_step_that_removes_nothing_is_left_out(op: str) -> None:
    assert removals([event(op)]) == ()


@pytest.mark.parametrize("op", ["replace", "create-replacement", "delete-replaced", "import-replacement"])
def test_every_step_of_a_replacement_counts_as_one(op: str) -> None:
    (removal,) = removals([event(op)])
    assert removal.operation == "replace"


@pytest.mark.parametrize("order", [1, -1])
def test_the_steps_of_one_replacement_are_one_removal_with_its_reasons(order: int) -> None:
    steps = [
        event("delete-replaced"),
        event("replace", keys=["bucket"], old={"inputs": {"bucket": "a"}}, new={"inputs": {"bucket": "b"}}),
    ][::order]
    (removal,) = removals(steps)
    assert removal.forced == (Forced(path="bucket", old='"a"', new='"b"'),)


def test_a_deletion_has_no_property_that_forces_it() -> None:
    (removal,) = removals([event("delete", keys=["bucket"], old={"inputs": {"bucket": "a"}, "retainOnDelete": True})])
    assert (removal.operation, removal.forced, removal.retained) == ("delete", (), True)


def test_only_properties_that_force_a_replacement_are_reasons_at_any_depth() -> None:
    detail = {
        "tags.a": {"diffKind": "update"},
        "rules[1].name": {"diffKind": "update-replace"},
        'map["a.b"]': {"diffKind": "add-replace"},
    }
    old = {"inputs": {"rules": [{}, {"name": "x"}], "map": {}}}
    new = {"inputs": {"rules": [{}, {"name": "04da6b54-80e4-46f7-96ec-b56ff0331ba9"}], "map": {"a.b": 1}}}
    (removal,) = removals([event("replace", detailedDiff=detail, keys=["rules", "map"], old=old, new=new)])
    assert removal.forced == (
        Forced(path='map["a.b"]', old="not set", new="1"),
        Forced(path="rules[1].name", old='"x"', new="known only after the update"),
    )


def test_a_long_value_is_shortened() -> None:
    (removal,) = removals([event("replace", keys=["bucket"], old={"inputs": {"bucket": "x" * 500}})])
    assert len(removal.forced[0].old) < 110


@pytest.mark.parametrize("line", ["no event", '{"resourcePreEvent": {"metadata": {"urn": "u"}}}', "[1]"])
def test_an_unreadable_log_is_an_error_and_not_an_empty_plan(line: str) -> None:
    with pytest.raises(SlipwayError, match="can't be evaluated"):
        removals([line])


def test_an_empty_log_removes_nothing() -> None:
    assert removals(["", "\n", '{"cancelEvent": {}}']) == ()


# The gate's verdict, over a recorded plan and over every type of the table.


CLUSTER = "aws:eks/cluster:Cluster"
GROUP = "aws:eks/nodeGroup:NodeGroup"
POOL = "kubernetes:karpenter.sh/v1:NodePool"
CUSTOM = (POOL,)
"""Types of custom resources."""


def removal(kind: str, operation: str = "replace", **more: Any) -> Removal:
    return Removal(urn=urn(kind), type=kind, operation=operation, **more)


def refused(loss: Removal, *allowed: str) -> bool:
    return bool(evaluate([loss], allowed).refused)


def test_of_a_recorded_plan_only_the_cluster_is_refused() -> None:
    with RECORDED.open() as lines:
        verdict = evaluate(removals(lines))
    assert [one.type for one in verdict.refused] == [CLUSTER]


@pytest.mark.parametrize("kind", sorted(set(TABLE) - {POOL}))
@pytest.mark.parametrize("operation", ["replace", "delete"])
def test_a_type_in_the_table_is_refused(kind: str, operation: str) -> None:
    assert refused(removal(kind, operation))


@pytest.mark.parametrize("kind", ["aws:iam/role:Role", "aws:ec2/subnet:Subnet", "kubernetes:apps/v1:Deployment"])
def test_a_type_outside_the_table_is_not_refused(kind: str) -> None:
    assert not refused(removal(kind))
    assert not among([kind])
    assert among([kind, CLUSTER])


def test_a_retained_resource_may_be_deleted_from_the_state_but_not_replaced() -> None:
    assert not refused(removal("aws:efs/fileSystem:FileSystem", "delete", retained=True))
    assert refused(removal("aws:efs/fileSystem:FileSystem", "replace", retained=True))


@pytest.mark.parametrize(("inputs", "outputs", "refuses"), CASES["a node group counts while it has nodes with jobs"])
def test_a_node_group_counts_while_it_has_nodes_with_jobs(
    inputs: dict[str, Any], outputs: dict[str, Any], refuses: bool
) -> None:
    assert refused(removal(GROUP, inputs=inputs, outputs=outputs)) is refuses


@pytest.mark.parametrize(("outputs", "refuses"), CASES["a node pool counts while it has nodes"])
def test_a_node_pool_counts_while_it_has_nodes(outputs: dict[str, Any], refuses: bool) -> None:
    assert refused(removal(POOL, outputs=outputs)) is refuses


def test_a_name_allows_that_resource_and_no_other() -> None:
    bucket = removal("aws:s3/bucket:Bucket")
    verdict = evaluate([bucket, removal(CLUSTER)], [bucket.urn, urn("aws:kms/key:Key")])
    assert [one.type for one in verdict.refused] == [CLUSTER]
    assert verdict.allowed == (bucket,)
    assert verdict.unused == (urn("aws:kms/key:Key"),)


@pytest.mark.parametrize("name", ["cluster", "*", "urn:pulumi:*", "urn:pulumi:dev::slipway"])
def test_a_name_that_is_not_a_urn_is_refused(name: str) -> None:
    with pytest.raises(SlipwayError, match="full URN") as caught:
        check_names([urn(CLUSTER), name])
    assert caught.value.exit_code == EXIT_REFUSED


def test_the_refusal_has_urn_operation_reason_and_fix() -> None:
    forced = (Forced(path="encrypted", old="false", new="true"),)
    text = refusal("prod", [removal(CLUSTER, forced=forced), removal("aws:kms/key:Key", "delete")])
    assert "2 resources that keep state would be replaced or deleted; nothing was changed" in text
    assert f"- replace {urn(CLUSTER)}" in text
    assert "encrypted can't be changed in place: false -> true" in text
    assert "the program no longer declares it" in text
    assert f"fix: {TABLE['aws:kms/key:Key'].fix}" in text
    assert text.endswith(f"--allow-replace '{urn('aws:kms/key:Key')}'")


@pytest.mark.parametrize(
    "kind", ["aws:fsx/lustreFileSystem:LustreFileSystem", "aws:efs/fileSystem:FileSystem", "aws:rds/instance:Instance"]
)
def test_the_fix_can_be_followed_with_the_settings_of_a_stack_which_has_one_such_resource(kind: str) -> None:
    fix = TABLE[kind].fix
    assert "second one" not in fix
    assert "to migrate, " in fix


def test_a_rehearsal_reports_what_would_have_been_refused_on_aws() -> None:
    text = refusal("dev", [removal(CLUSTER)], done=True)
    assert text.startswith("stack dev: on AWS this would have been refused: 1 resource that keeps state would be")
    assert "the engine names no property" in text


@pytest.mark.parametrize("kind", sorted(set(TABLE) - set(CUSTOM)))
def test_every_type_of_the_table_exists_in_the_pinned_sdk(kind: str) -> None:
    package, module, name = kind.split(":")
    if package == "aws":
        folder, file = module.split("/")
        path = Path(pulumi_aws.__file__).parent / folder / f"{_snake(file)}.py"
    else:
        folder = module.replace(".k8s.io", "").replace("/", "/")
        path = Path(pulumi_kubernetes.__file__).parent / folder / f"{name}.py"
    assert f"'{kind}'" in path.read_text()


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


# Refusing to destroy protected resources, and to change a stack after a killed run.


PROTECTED = parse(
    exported(
        resource("aws:ec2/vpc:Vpc", "network-vpc", protect=True),
        resource("aws:eks/cluster:Cluster", "cluster", protect=True),
        resource("aws:ec2/subnet:Subnet", "network-private-a"),
    )
)


def unread() -> StackState:
    raise AssertionError


def test_a_destroy_names_exactly_the_protected_resources() -> None:
    with pytest.raises(SlipwayError) as caught:
        refuse_protected(Request(operation=Operation.DESTROY, stack="prod"), lambda: PROTECTED)
    assert caught.value.exit_code == EXIT_PROTECTED
    lines = str(caught.value).splitlines()
    assert lines[0] == "stack prod has 2 protected resources; nothing was destroyed:"
    assert [line for line in lines if line.startswith("  - ")] == ["  - ec2 Vpc network-vpc", "  - eks Cluster cluster"]
    assert "environment.protect: false" in lines[-2]


@pytest.mark.parametrize(
    ("request_", "state"),
    [
        (Request(operation=Operation.UP, stack="prod"), unread),
        (Request(operation=Operation.DESTROY, stack="prod", except_protected=True), unread),
        (Request(operation=Operation.DESTROY, stack="prod", extra=("--target=urn:x",)), unread),
        (Request(operation=Operation.DESTROY, stack="prod", extra=("--ignore-protect",)), unread),
        (Request(operation=Operation.DESTROY, stack="prod"), StackState),
    ],
)
def test_a_chosen_part_or_an_unprotected_stack_is_not_refused(
    request_: Request, state: Callable[[], StackState]
) -> None:
    refuse_protected(request_, state)


INTERRUPTED = parse(exported(pending=[{"type": "creating", "resource": resource("aws:ec2/vpc:Vpc", "network-vpc")}]))


@pytest.mark.parametrize("operation", [Operation.UP, Operation.DESTROY])
def test_after_a_killed_run_a_change_is_refused_with_the_command_that_recovers(operation: Operation) -> None:
    with pytest.raises(
        SlipwayError, match=r"(?s)left 1 operations open.*network-vpc.*slipway state repair prod"
    ) as caught:
        refuse_interrupted(Request(operation=operation, stack="prod"), lambda: INTERRUPTED)
    assert caught.value.exit_code == 1


@pytest.mark.parametrize("operation", [Operation.PREVIEW, Operation.REFRESH])
def test_after_a_killed_run_looking_is_allowed(operation: Operation) -> None:
    refuse_interrupted(Request(operation=operation, stack="prod"), unread)


def test_a_stack_without_a_readable_state_is_left_to_the_engine() -> None:
    def missing() -> StackState:
        message = "no stack named 'prod' found"
        raise SlipwayError(message)

    refuse_interrupted(Request(operation=Operation.UP, stack="prod"), missing)

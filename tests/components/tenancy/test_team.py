from __future__ import annotations

from typing import Any

import pulumi_aws as aws
import pytest

from components.addons import registry
from spec.settings.checks.names import PROJECT
from spec.settings.checks.teams import RESERVED, WORKLOAD_ROLE
from tests.components.tenancy.samples import LANGUAGE, TEAMS, VISION, platform, record
from tests.support.mocks import STACK, Recording, Registered

NAMESPACE = "kubernetes:core/v1:Namespace"
CLAIM = "kubernetes:core/v1:PersistentVolumeClaim"
VOLUME = "kubernetes:core/v1:PersistentVolume"
RECOMMENDER: dict[str, Any] = {"project": "ranking", "costCenter": "ml", "gpus": {"a100": {"nominalQuota": 2}}}


@pytest.fixture(scope="module")
def recording() -> Recording:
    return record()


def test_a_team_has_its_namespaces_or_one_with_its_name(recording: Recording) -> None:
    names = sorted(resource.inputs["metadata"]["name"] for resource in recording.of(NAMESPACE).values())
    assert names == ["language", "vision-serving", "vision-training"]


def test_every_object_has_a_provider_and_is_deleted_with_the_cluster(recording: Recording) -> None:
    assert recording.default_provider_users == ()
    cluster = recording.one(aws.eks.Cluster)
    for resource in recording:
        if resource.type.startswith("kubernetes:") and not resource.type.startswith("kubernetes:provider"):
            assert resource.deleted_with == cluster.urn, resource


def test_a_member_has_an_access_entry_with_a_group_bound_in_all_namespaces(recording: Recording) -> None:
    entries = {
        resource.inputs["principalArn"]: resource.inputs["kubernetesGroups"]
        for resource in recording.of(aws.eks.AccessEntry).values()
    }
    assert entries["arn:aws:iam::111122223333:role/vision-lead"] == ["slipway:vision:admin"]
    bound = [
        (resource.inputs["metadata"]["namespace"], subject["name"])
        for resource in recording.of("kubernetes:rbac.authorization.k8s.io/v1:RoleBinding").values()
        for subject in resource.inputs["subjects"]
    ]
    for namespace in ("vision-training", "vision-serving"):
        for (group,) in entries.values():
            assert (namespace, group) in bound


def test_each_namespace_has_a_pod_identity_association(recording: Recording) -> None:
    associations = recording.of(aws.eks.PodIdentityAssociation)
    where = sorted(
        (resource.inputs["namespace"], resource.inputs["serviceAccount"]) for resource in associations.values()
    )
    assert where == [("language", "workload"), ("vision-serving", "workload"), ("vision-training", "workload")]
    role = recording.of(aws.iam.Role)["space-language-role"]
    assert '"aws:RequestTag/kubernetes-namespace":["language"]' in role.inputs["assumeRolePolicy"]


def test_every_object_depends_on_its_namespace(recording: Recording) -> None:
    spaces = {resource.inputs["metadata"]["name"]: resource for resource in recording.of(NAMESPACE).values()}
    inside = [resource for resource in recording if resource.inputs.get("metadata", {}).get("namespace") in spaces]
    assert len(inside) > 30
    for member in inside:
        assert recording.waits(member, spaces[member.inputs["metadata"]["namespace"]]), member


def test_a_claim_depends_on_its_volume(recording: Recording) -> None:
    volumes, claims = recording.of(VOLUME), recording.of(CLAIM)
    assert volumes
    for name, volume in volumes.items():
        assert recording.waits(claims[name.removesuffix("-volume")], volume)


def data(recording: Recording) -> list[Registered]:
    return [resource for kind in (NAMESPACE, CLAIM, VOLUME) for resource in recording.of(kind).values()]


@pytest.mark.parametrize(
    ("protect", "team", "expected"),
    [
        (True, {}, True),
        (False, {}, False),
        (False, {"retain": True}, True),
        (True, {"retain": False}, False),
        (True, {"retired": True}, False),
        (True, {"retain": True, "retired": True}, False),
    ],
)
def test_data_is_protected_until_the_team_is_retired(protect: bool, team: dict[str, Any], expected: bool) -> None:
    recording = record({"language": {**LANGUAGE, **team}}, protect=protect)
    assert {resource.protect for resource in data(recording)} == {expected}
    protected = {resource.type for resource in recording if resource.protect}
    assert protected == ({NAMESPACE, CLAIM, VOLUME} if expected else set())


def test_a_retired_team_can_only_read_and_its_queue_is_drained() -> None:
    recording = record({"vision": {**VISION, "gpus": {"a100": {"nominalQuota": 4}}, "retired": True}})
    roles = {
        resource.inputs["roleRef"]["name"]
        for resource in recording.of("kubernetes:rbac.authorization.k8s.io/v1:RoleBinding").values()
    }
    assert roles == {"slipway-team-view"}
    assert (
        recording.one("kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue").inputs["spec"]["stopPolicy"] == "HoldAndDrain"
    )


def test_workflow_steps_can_report_results_if_workflows_are_enabled() -> None:
    kind = "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding"
    bound = [name for name in record({"language": LANGUAGE}, workflows=True).of(kind) if "workflows" in name]
    assert bound == ["space-language-binding-workflows"]
    assert [name for name in record({"language": LANGUAGE}).of(kind) if "workflows" in name] == []


def seen(recording: Recording) -> dict[str, Any]:
    return {resource.urn: (resource.inputs, resource.depends_on, resource.protect) for resource in recording}


def test_adding_a_team_changes_no_other_resources() -> None:
    before, after = seen(record()), seen(record({**TEAMS, "recommender": RECOMMENDER}))
    assert before.items() <= after.items()
    added = sorted(urn.rpartition("::")[2] for urn in after.keys() - before.keys())
    assert len(added) > 20
    assert [name for name in added if "recommender" not in name] == []


def test_without_teams_there_are_no_team_resources() -> None:
    types = {resource.type for resource in record({})}
    assert not any(kind.startswith("slipway:") for kind in types)


def test_the_settings_checks_measure_the_real_role_name(recording: Recording) -> None:
    role = recording.of(aws.iam.Role)[WORKLOAD_ROLE.format(namespace="vision-training")]
    assert role.outputs["name"].startswith(f"{PROJECT}-{STACK}-{role.name}-")


def test_namespaces_of_add_ons_are_reserved() -> None:
    ours = {addon.namespace.name for addon in registry.REGISTRY.values()} - {"kube-system"}
    assert ours <= RESERVED


def test_namespaces_of_a_team_have_full_names() -> None:
    teams = platform().teams
    assert list(teams["vision"].namespaces_of("vision")) == ["vision-serving", "vision-training"]
    assert list(teams["language"].namespaces_of("language")) == ["language"]

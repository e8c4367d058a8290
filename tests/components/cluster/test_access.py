"""Access entries, with the keys of the settings as names."""

import json
from collections.abc import Mapping
from typing import Any, Final

import pulumi_aws as aws
import pytest

from components.cluster.access import document, kubeconfig
from tests.components.cluster.support import CONTROL_PLANE, record_control_plane
from tests.support.mocks import ACCOUNT, UNKNOWN, run

ACCESS: Final[Mapping[str, Mapping[str, Any]]] = {
    "platform-admins": {
        "principalArn": f"arn:aws:iam::{ACCOUNT}:role/platform-admin",
        "policy": "AmazonEKSClusterAdminPolicy",
    },
    "engineers": {
        "principalArn": f"arn:aws:iam::{ACCOUNT}:role/engineer",
        "policy": "AmazonEKSEditPolicy",
        "namespaces": ["team-b", "team-a"],
    },
    "auditors": {"principalArn": f"arn:aws:iam::{ACCOUNT}:role/auditor", "kubernetesGroups": ["readers", "auditors"]},
}


def test_every_access_entry_has_its_own_name_and_principal() -> None:
    entries = record_control_plane(access=ACCESS).of(aws.eks.AccessEntry)
    assert {name: entry.inputs["principalArn"] for name, entry in entries.items()} == {
        f"cluster-access-entry-{key}": settings["principalArn"] for key, settings in ACCESS.items()
    }
    assert {entry.inputs["type"] for entry in entries.values()} == {"STANDARD"}


def test_a_policy_applies_to_the_cluster_or_to_named_namespaces() -> None:
    policies = record_control_plane(access=ACCESS).of(aws.eks.AccessPolicyAssociation)
    admins, engineers = policies["cluster-access-policy-platform-admins"], policies["cluster-access-policy-engineers"]
    assert admins.inputs["policyArn"] == "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
    assert admins.inputs["accessScope"] == {"type": "cluster"}
    assert engineers.inputs["accessScope"] == {"type": "namespace", "namespaces": ["team-a", "team-b"]}


def test_an_entry_with_groups_needs_no_policy() -> None:
    recording = record_control_plane(access=ACCESS)
    entry = recording.of(aws.eks.AccessEntry)["cluster-access-entry-auditors"]
    assert entry.inputs["kubernetesGroups"] == ["auditors", "readers"]
    assert "cluster-access-policy-auditors" not in recording.of(aws.eks.AccessPolicyAssociation)


def test_a_policy_depends_on_its_entry() -> None:
    recording = record_control_plane(access=ACCESS)
    policy = recording.of(aws.eks.AccessPolicyAssociation)["cluster-access-policy-engineers"]
    assert recording.waits(policy, recording.of(aws.eks.AccessEntry)["cluster-access-entry-engineers"])


def test_in_cluster_resources_depend_only_on_administrators() -> None:
    recording = record_control_plane(access=ACCESS)
    admins = recording.of(aws.eks.AccessPolicyAssociation)["cluster-access-policy-platform-admins"]
    assert recording.returned["access"] == [admins.urn]


def test_entries_are_deleted_with_their_cluster() -> None:
    recording = record_control_plane(access=ACCESS)
    cluster = recording.of(aws.eks.Cluster)[CONTROL_PLANE]
    kinds = (aws.eks.AccessEntry, aws.eks.AccessPolicyAssociation)
    assert {resource.deleted_with for kind in kinds for resource in recording.of(kind).values()} == {cluster.urn}


def test_adding_an_entry_changes_no_other() -> None:
    before = record_control_plane(access={key: ACCESS[key] for key in ("platform-admins", "auditors")})
    after = record_control_plane(access=ACCESS)
    assert before.resources.keys() < after.resources.keys()
    assert all(resource.inputs == after.resources[urn].inputs for urn, resource in before.resources.items())


GIVEN = ("slipway-test", "eu-west-1", "https://api.example", "Q0E=")


def test_the_current_context_refers_to_cluster_and_user() -> None:
    config = document(*GIVEN)
    (context,) = config["contexts"]
    assert config["current-context"] == context["name"] == "slipway-test"
    assert context["context"] == {"cluster": config["clusters"][0]["name"], "user": config["users"][0]["name"]}
    assert config["clusters"][0]["cluster"] == {
        "server": "https://api.example",
        "certificate-authority-data": "Q0E=",
    }


def test_the_token_command_names_cluster_and_region_and_never_prompts() -> None:
    exec_ = document(*GIVEN)["users"][0]["user"]["exec"]
    assert exec_["command"] == "aws"
    assert exec_["args"][:6] == ["eks", "get-token", "--cluster-name", "slipway-test", "--region", "eu-west-1"]
    assert exec_["interactiveMode"] == "Never"


def test_a_user_has_no_credential_of_its_own() -> None:
    (user,) = document(*GIVEN)["users"]
    assert set(user["user"]) == {"exec"}


def test_the_text_is_json_with_sorted_keys() -> None:
    text = run(lambda: kubeconfig(*GIVEN)).returned
    assert text == json.dumps(json.loads(text), sort_keys=True)
    assert json.loads(text) == document(*GIVEN)


@pytest.mark.parametrize("part", [2, 3])
def test_it_is_unknown_while_a_part_is_unknown(part: int) -> None:
    def build() -> Any:
        arguments: list[Any] = [*GIVEN]
        arguments[part] = aws.ec2.Vpc("later").arn
        return kubeconfig(*arguments)

    assert run(build, preview=True).returned == UNKNOWN

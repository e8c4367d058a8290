"""The control plane: private, encrypted, logged, protected, with explicit access only."""

import json
from collections.abc import Mapping
from typing import Any, Final

import pulumi_aws as aws
import pytest

from components.cluster.access import kubeconfig
from spec.kubeconfig import document
from tests.components.cluster.support import CONTROL_PLANE, record_control_plane
from tests.support.mocks import ACCOUNT, UNKNOWN, run
from tests.support.settings import CLUSTER_NAME


def test_outputs_have_the_values_from_aws() -> None:
    recording = record_control_plane()
    cluster, outputs = recording.of(aws.eks.Cluster)[CONTROL_PLANE], recording.returned
    assert outputs["arn"] == cluster.outputs["arn"] == f"arn:aws:eks:us-east-1:111122223333:cluster/{CLUSTER_NAME}"
    assert outputs["endpoint"] == cluster.outputs["endpoint"]
    assert outputs["group"] == cluster.outputs["vpcConfig"]["clusterSecurityGroupId"]
    config = json.loads(outputs["kubeconfig"])["clusters"][0]["cluster"]
    assert config == {"server": outputs["endpoint"], "certificate-authority-data": outputs["authority"]}


def test_in_a_first_preview_only_settings_are_known() -> None:
    recording = record_control_plane(preview=True)
    outputs = recording.returned
    assert outputs["arn"] == f"arn:aws:eks:us-east-1:111122223333:cluster/{CLUSTER_NAME}"
    for key in ("endpoint", "authority", "kubeconfig", "group"):
        assert outputs[key] == UNKNOWN
    assert {resource.name for resource in recording} == {outputs.name for outputs in record_control_plane()}


# Access entries, with the keys of the settings as names.


ACCESS: Final[Mapping[str, Mapping[str, Any]]] = {
    "platform-admins": {"principalArn": f"arn:aws:iam::{ACCOUNT}:role/platform-admin",
        "policy": "AmazonEKSClusterAdminPolicy"},
    "engineers": {"principalArn": f"arn:aws:iam::{ACCOUNT}:role/engineer", "policy": "AmazonEKSEditPolicy",
        "namespaces": ["team-b", "team-a"]},
    "auditors": {"principalArn": f"arn:aws:iam::{ACCOUNT}:role/auditor", "kubernetesGroups": ["readers", "auditors"]},
}  # fmt: skip


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
    assert config["clusters"][0]["cluster"] == {"server": "https://api.example", "certificate-authority-data": "Q0E="}


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

"""The kubeconfig: complete, deterministic, without credentials."""

from __future__ import annotations

import json
from typing import Any

import pulumi_aws as aws
import pytest

from components.cluster.kubeconfig import document, kubeconfig
from tests.support.mocks import UNKNOWN, run

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

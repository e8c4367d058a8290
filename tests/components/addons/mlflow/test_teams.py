"""A team tracks experiments and serves its models, and no other team can: servers, policies and roles agree."""

from __future__ import annotations

from fnmatch import fnmatchcase
from ipaddress import IPv4Network
from typing import Any, Final

import pytest

from components.addons.mlflow.addon import policy
from components.tenancy.network_policies import network_policies
from components.tenancy.workload_permissions import workload_document
from spec.settings.network import Network
from spec.settings.teams import TeamNamespace
from spec.teams import labels, tracking
from tests.components.addons.mlflow.test_addon import TEAMS, _seen
from tests.components.storage.support import statements
from tests.support.mocks import providers, run
from tests.support.outputs import cluster_outputs

BUCKETS: Final = {purpose: f"arn:aws:s3:::{purpose}" for purpose in ("raw", "checkpoints", "models", "state")}
NETWORK: Final = Network(cidr=IPv4Network("10.0.0.0/16"), zones=("us-east-1a", "us-east-1b"))
MODEL: Final = "1/models/m-0a1b2c3d/artifacts/MLmodel"
"""Path of a logged model below the root of a server's files (MLflow 3, `models:/` of the tracking store)."""


def recorded(team: str) -> str:
    """ARN of a file of a model, as MLflow records it: the server's root for artifacts, and the path below it."""
    root = _seen().values[tracking.server(team)]["artifactRoot"]
    assert root["proxiedArtifactStorage"] is False, "the registry would record mlflow-artifacts:/, not an address in S3"
    return f"arn:aws:s3:::models/{root['s3']['path']}/{MODEL}"


def allowed(document: str, action: str, arn: str) -> bool:
    return any(
        action in statement["Action"] and any(fnmatchcase(arn, pattern) for pattern in statement["Resource"])
        for statement in statements(document).values()
    )


def role(team: str) -> str:
    """Permissions of a team's pods, among them its model servers."""
    return workload_document(team, BUCKETS, "arn:aws:kms:us-east-1:111122223333:key/k", "s3.us-east-1.amazonaws.com")


@pytest.mark.parametrize("team", TEAMS)
def test_what_mlflow_writes_the_model_servers_of_the_team_read_and_no_other_team_writes(team: str) -> None:
    assert allowed(role(team), "s3:PutObject", recorded(team))
    assert allowed(role(team), "s3:GetObject", recorded(team))
    for other in set(TEAMS) - {team}:
        assert not allowed(role(other), "s3:PutObject", recorded(team))
        assert not allowed(role(other), "s3:GetObject", recorded(team))


def test_a_server_reads_the_files_of_its_team_and_changes_none() -> None:
    def build() -> dict[str, str]:
        cluster = cluster_outputs(providers()[0])
        return {team: policy(cluster, team, secret_arn="s", bucket_arn=BUCKETS["models"]) for team in TEAMS}

    documents = run(build).returned
    for team, document in documents.items():
        assert allowed(document, "s3:GetObject", recorded(team))
        assert not any(allowed(document, "s3:GetObject", recorded(other)) for other in set(TEAMS) - {team})
        assert not any(allowed(document, action, recorded(team)) for action in ("s3:PutObject", "s3:DeleteObject"))


def matches(selector: dict[str, Any], of: dict[str, str]) -> bool:
    return bool(selector["matchLabels"].items() <= of.items())


@pytest.mark.parametrize("team", TEAMS)
def test_a_teams_pods_reach_its_own_server_only(team: str) -> None:
    policies = network_policies(team, team, TeamNamespace(), NETWORK)
    out = policies["team"]["spec"]["egress"]
    before = _seen().before
    for other in TEAMS:
        pod = {"app.kubernetes.io/name": "mlflow", "app.kubernetes.io/instance": tracking.server(other)}
        namespace = {labels.NAMESPACE: tracking.NAMESPACE}
        goes = any(
            {"protocol": "TCP", "port": tracking.PORT} in rule.get("ports", [])
            and any(
                matches(peer["namespaceSelector"], namespace) and matches(peer["podSelector"], pod)
                for peer in rule["to"]
                if "podSelector" in peer
            )
            for rule in out
        )
        comes = any(
            matches(spec["podSelector"], pod)
            and any(
                matches(peer["namespaceSelector"], {labels.TEAM: team})
                for rule in spec["ingress"]
                for peer in rule["from"]
            )
            for spec in (each["spec"] for key, each in before.items() if key.startswith("ingress-"))
        )
        assert goes == comes == (other == team), other
    assert before["ingress"]["spec"] == {"podSelector": {}, "policyTypes": ["Ingress"]}


@pytest.mark.parametrize("team", TEAMS)
def test_a_server_answers_under_the_name_that_its_clients_use(team: str) -> None:
    """MLflow answers 403 to a request for a host that it doesn't know (3.15.1, seen on a server)."""
    host = tracking.address(team).removeprefix("http://")
    name, _, namespace = host.partition(".")
    assert (name, namespace) == (tracking.server(team), tracking.NAMESPACE)
    known = _seen().values[name]["serverAllowedHosts"]
    assert host in known
    assert any(fnmatchcase("localhost:5000", each) for each in known), "a forwarded port"
    assert "*" not in known


def test_no_two_teams_share_a_database() -> None:
    databases = {_seen().values[tracking.server(team)]["backendStore"]["postgres"]["database"] for team in TEAMS}
    assert databases == {"mlflow_nlp", "mlflow_ad_rank"}

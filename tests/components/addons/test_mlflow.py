"""MLflow: storage, permissions, and no password in any manifest."""

import ast
import json
import os
import stat
import sys
from fnmatch import fnmatchcase
from ipaddress import IPv4Network
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Final

import jsonschema
import pulumi_aws as aws
import pytest

from components.addons.mlflow import Mlflow
from components.addons.mlflow.addon import policy
from components.addons.mlflow.password_file import line, look
from components.addons.mlflow.tables import create, quoted
from components.addons.mlflow.values import IMAGE, PASSWORD_FILE
from components.tenancy.network_policies import network_policies
from components.tenancy.workload_permissions import workload_document
from spec.catalog.software import CHARTS
from spec.settings.addons import Addons
from spec.settings.addons.tracking import Mlflow as Settings
from spec.settings.network import Network
from spec.settings.parts import overlay
from spec.settings.teams import TeamNamespace
from spec.teams import labels, tracking
from tests.components.addons.charts import own_values, unknown_keys
from tests.support.context import Seen, seen_parts
from tests.support.mocks import providers, run, statements
from tests.support.outputs import cluster_outputs

HANDED_ON = ("podSecurityContext", "affinity", "extraEnvVars")
"""Maps that the chart passes through."""
SECRET = "arn:aws:secretsmanager:us-east-1:111122223333:secret:rds!db-0a1b2c3d"
SHARED = os.environ.get("SLIPWAY_SHARED")
_TEAM: dict[str, Any] = {"project": "p", "costCenter": "c", "cpus": {"cpu": {"nominalQuota": 4}}}
TEAMS = {"nlp": _TEAM, "ad-rank": _TEAM}


def _mounts(container: dict[str, Any]) -> list[dict[str, Any]]:
    return [mount for mount in container["volumeMounts"] if mount["name"] != "tmp"]


def _seen(**settings: Any) -> Seen:
    configured = Settings.model_validate_json(json.dumps(settings))
    return seen_parts(lambda: Mlflow(configured), addons={"mlflow": settings}, teams=TEAMS)


def test_the_password_file_is_in_memory_and_comes_before_tables_and_server() -> None:
    values = _seen().values["mlflow-nlp"]
    sidecar, tables = values["initContainers"]
    assert sidecar["restartPolicy"] == "Always"
    assert sidecar["startupProbe"]["exec"]["command"] == ["test", "-s", PASSWORD_FILE]
    assert sidecar["command"][2:] == [
        "arn:aws:secretsmanager:us-east-1:111122223333:secret:rds!db-0a1b2c3d",
        PASSWORD_FILE,
    ]
    assert "restartPolicy" not in tables
    (memory,) = (one for one in values["extraVolumes"] if one["name"] == "database")
    assert memory["emptyDir"]["medium"] == "Memory"
    mounts = {(one["name"], mount["name"], mount["readOnly"]) for one in (sidecar, tables) for mount in _mounts(one)}
    writers = [name for name, volume, read_only in mounts if volume == "database" and not read_only]
    assert writers == ["database-password"]
    assert values["extraVolumeMounts"][0]["readOnly"] is True


def test_every_connection_is_encrypted() -> None:
    values = _seen().values["mlflow-nlp"]
    tables = {one["name"]: one["value"] for one in values["initContainers"][1]["env"]}
    assert tables["PGSSLMODE"] == values["extraEnvVars"]["PGSSLMODE"] == "require"


def test_it_can_read_one_secret_and_its_teams_files() -> None:
    policy = statements(_policies()["mlflow-nlp"])
    assert policy["Password"]["Resource"] == [SECRET]
    assert policy["Password"]["Action"] == ["secretsmanager:GetSecretValue"]
    assert policy["Files"]["Resource"] == ["arn:aws:s3:::slipway-models/nlp/mlflow/*"]
    assert policy["Files"]["Action"] == ["s3:GetObject"]
    assert policy["FindFiles"]["Condition"] == {"StringLike": {"s3:prefix": ["nlp/mlflow", "nlp/mlflow/*"]}}
    services = {policy[sid]["Condition"]["StringEquals"]["kms:ViaService"][0] for sid in ("SecretKey", "DataKey")}
    assert services == {"secretsmanager.us-east-1.amazonaws.com", "s3.us-east-1.amazonaws.com"}
    assert not any("*" in action for one in policy.values() for action in one["Action"])


def _policies() -> dict[str, Any]:
    """Policies of the servers by service account."""
    found = _seen().recording.of(aws.iam.RolePolicy)
    return {
        name.removesuffix("-permissions").removesuffix("-policy"): each.inputs["policy"] for name, each in found.items()
    }


def test_added_containers_have_limits_and_no_privileges() -> None:
    values = _seen().values["mlflow-nlp"]
    for container in values["initContainers"]:
        assert container["image"] == IMAGE
        assert set(container["resources"]) == {"requests", "limits"}
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert values["podSecurityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}


def test_scripts_are_python_and_the_password_script_imports_nothing_of_the_project() -> None:
    data = _seen().before["scripts"]["data"]
    assert set(data) == {"password_file.py", "tables.py"}
    for text in data.values():
        imported = {
            name
            for node in ast.walk(ast.parse(text))
            for name in (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
        }
        assert not {name for name in imported if name.split(".")[0] in {"components", "infra", "slipway", "pulumi"}}


@pytest.mark.skipif(SHARED is None, reason="SLIPWAY_SHARED names no folder with the chart's own values")
def test_the_chart_accepts_every_value() -> None:
    assert SHARED is not None
    values, chart = _seen().values["mlflow-nlp"], own_values(Path(SHARED), "mlflow")
    checked = {key: value for key, value in values.items() if key not in HANDED_ON}
    assert not list(unknown_keys(checked, chart))
    schema = json.loads((Path(SHARED) / "charts" / "mlflow" / "values.schema.json").read_text())
    # Helm merges the values into the chart's and validates the result against the schema.
    jsonschema.Draft7Validator(schema).validate(overlay(chart, values))


def test_the_image_is_that_of_the_pinned_chart() -> None:
    assert (CHARTS["mlflow"].version, IMAGE) == ("1.11.5", "burakince/mlflow:3.15.1")


class _Secrets:
    """A Secrets Manager client that answers or fails."""

    def __init__(self, answer: Any) -> None:
        self.answer, self.requested = answer, list[str]()

    def get_secret_value(self, SecretId: str) -> dict[str, Any]:  # noqa: N803 - AWS's spelling
        self.requested.append(SecretId)
        if isinstance(self.answer, Exception):
            raise self.answer
        return {"SecretString": json.dumps(self.answer)}


@pytest.mark.parametrize(
    ("password", "written"), [("plain", "plain"), ("a:b", r"a\:b"), ("a\\b", r"a\\b"), (r"\:", r"\\\:"), ("ü#%", "ü#%")]
)
def test_colons_and_backslashes_are_escaped(password: str, written: str) -> None:
    secret = json.dumps({"username": "slipway", "password": password})
    assert line(secret) == f"*:*:*:slipway:{written}\n"


def test_only_the_owner_can_read_the_file(tmp_path: Path) -> None:
    secrets, path = _Secrets({"username": "u", "password": "p"}), tmp_path / "password"
    assert look(secrets, "arn:secret", path) == ""
    assert secrets.requested == ["arn:secret"]
    assert path.read_text() == "*:*:*:u:p\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["password"]


def test_a_new_password_replaces_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "password"
    for password in ("a-long-one", "b"):
        look(_Secrets({"username": "u", "password": password}), "arn", path)
    assert path.read_text() == "*:*:*:u:b\n"


@pytest.mark.parametrize("answer", [RuntimeError("secret-in-the-message"), {"username": "u"}, "no object"])
def test_a_failed_poll_keeps_the_file_and_logs_no_secret(tmp_path: Path, answer: Any) -> None:
    path = tmp_path / "password"
    path.write_text("before")
    wrong = look(_Secrets(answer), "arn", path)
    assert wrong.endswith("the password was not read")
    assert "secret-in-the-message" not in wrong
    assert path.read_text() == "before"


class Connection:
    """Records statements; knows the databases that exist."""

    def __init__(self, *existing: str) -> None:
        self.existing, self.statements = existing, list[str]()

    def execute(self, statement: str, values: dict[str, str] | None = None) -> Any:
        self.statements.append(statement)
        found = values is not None and values["name"] in self.existing
        return SimpleNamespace(first=lambda: (1,) if found else None)


@pytest.fixture(autouse=True)
def _sqlalchemy(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("sqlalchemy")
    module.text = str  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sqlalchemy", module)


def test_a_missing_database_is_created() -> None:
    connection = Connection("mlflow")
    assert create(connection, "mlflow_nlp")
    assert connection.statements[-1] == 'CREATE DATABASE "mlflow_nlp"'


def test_an_existing_database_is_left_as_it_is() -> None:
    connection = Connection("mlflow", "mlflow_nlp")
    assert not create(connection, "mlflow_nlp")
    assert len(connection.statements) == 1


def test_a_name_is_quoted() -> None:
    assert quoted('a"b') == '"a""b"'


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
    policies = network_policies(team, team, TeamNamespace(), NETWORK, Addons.model_validate({"mlflow": {}}))
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

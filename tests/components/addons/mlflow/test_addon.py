"""MLflow: storage, permissions, and no password in any manifest."""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pulumi_aws as aws
import pytest

from components.addons.mlflow import Mlflow
from components.addons.mlflow.values import IMAGE, PASSWORD_FILE
from spec.catalog.charts import MLFLOW
from spec.settings.addons.tracking import Mlflow as Settings
from spec.settings.shape import overlay
from tests.components.addons.charts import own_values, unknown_keys
from tests.components.storage.support import statements
from tests.support.context import Seen, seen_parts

HANDED_ON = ("podSecurityContext", "affinity", "extraEnvVars")
"""Maps that the chart passes through."""
SECRET = "arn:aws:secretsmanager:us-east-1:111122223333:secret:rds!db-0a1b2c3d"
CHARTS = os.environ.get("SLIPWAY_SHARED")
_TEAM: dict[str, Any] = {"project": "p", "costCenter": "c", "cpus": {"cpu": {"nominalQuota": 4}}}
TEAMS = {"nlp": _TEAM, "ad-rank": _TEAM}


def _mounts(container: dict[str, Any]) -> list[dict[str, Any]]:
    return [mount for mount in container["volumeMounts"] if mount["name"] != "tmp"]


def _seen(**settings: Any) -> Seen:
    configured = Settings.model_validate_json(json.dumps(settings))
    return seen_parts(lambda: Mlflow(configured), addons={"mlflow": settings}, teams=TEAMS)


def test_runs_are_in_the_database_and_artifacts_in_the_bucket() -> None:
    values = _seen().values["mlflow-nlp"]
    assert values["backendStore"]["postgres"] == {
        "enabled": True,
        "host": "mlflow.example.internal",
        "port": 5432,
        "database": "mlflow_nlp",
        "driver": "psycopg2",
    }
    assert values["artifactRoot"] == {
        "proxiedArtifactStorage": False,
        "s3": {"enabled": True, "bucket": "slipway-test-models-0a1b2c3", "path": "nlp/mlflow"},
    }


def test_the_kubernetes_secret_contains_no_password() -> None:
    seen = _seen()
    secret = seen.before["database-user"]
    assert secret["stringData"] == {"username": "slipway", "password": ""}
    assert seen.values["mlflow-nlp"]["backendStore"]["existingDatabaseSecret"] == {"name": secret["metadata"]["name"]}


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


def test_there_is_a_disruption_budget_with_more_than_one_server() -> None:
    assert {"budget-nlp", "budget-ad-rank"} <= set(_seen().objects)
    assert not _seen(replicas=1).objects


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


@pytest.mark.skipif(CHARTS is None, reason="SLIPWAY_SHARED names no folder with the chart's own values")
def test_the_chart_accepts_every_value() -> None:
    assert CHARTS is not None
    values, chart = _seen().values["mlflow-nlp"], own_values(Path(CHARTS), "mlflow")
    checked = {key: value for key, value in values.items() if key not in HANDED_ON}
    assert not list(unknown_keys(checked, chart))
    schema = json.loads((Path(CHARTS) / "charts" / "mlflow" / "values.schema.json").read_text())
    # Helm merges the values into the chart's and validates the result against the schema.
    jsonschema.Draft7Validator(schema).validate(overlay(chart, values))


def test_the_image_is_that_of_the_pinned_chart() -> None:
    assert (MLFLOW.version, IMAGE) == ("1.11.5", "burakince/mlflow:3.15.1")

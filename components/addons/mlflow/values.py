"""Values of MLflow's chart, and the containers that provide the password file and the tables. Pure.

The chart takes a password only from a Kubernetes Secret, in an environment variable: a copy that would be stale after
seven days. Here the variable is empty; libpq treats it as unset and reads the password file (postgres,
src/interfaces/libpq/fe-connect.c, pqConnectOptions2; 17). The chart's own migration can't read that file, so an init
container here replaces it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pulumi

from components.base.outputs import DatabaseOutputs
from components.base.sizing import sized
from components.storage.database import USER

NAME: Final = "mlflow"
IMAGE: Final = "burakince/mlflow:3.15.1"
"""The chart's image (1.11.5, `appVersion`), for the containers that the chart doesn't define."""
ARTIFACTS: Final = "mlflow"
"""Prefix in the bucket `models`."""
USER_SECRET: Final = "mlflow-database-user"  # noqa: S105 - a name
SCRIPTS: Final = "mlflow-scripts"
PASSWORD_FILE: Final = "/run/database/password"  # noqa: S105 - where it is, not what
_SCRIPT_FOLDER: Final = "/opt/slipway"
_PASSWORD_SCRIPT: Final = Path(__file__).with_name("password_file.py").read_text(encoding="utf-8")
_TABLES_SCRIPT: Final = """\
# Creates and migrates the tables; an advisory lock makes servers that start together take turns.
from mlflow.store.db import utils
from sqlalchemy import text

engine = utils.create_sqlalchemy_engine_with_retry("postgresql+psycopg2://")
with engine.connect() as connection:
    connection.execute(text("SELECT pg_advisory_lock(7215)"))
    utils._initialize_tables(engine)
"""
_SECURITY: Final = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "readOnlyRootFilesystem": True,
    "runAsNonRoot": True,
    "privileged": False,
    "runAsUser": 1001,
    "runAsGroup": 1001,
}


def values(
    *,
    replicas: int,
    region: str,
    database: DatabaseOutputs,
    bucket: pulumi.Input[str],
    placement: dict[str, Any],
) -> dict[str, Any]:
    """Values of the chart (1.11.5) that differ from its defaults.

    Args:
        replicas: Number of servers.
        region: AWS Region of the secret and the bucket.
        database: Database of the tracking data.
        bucket: Name of the artifact bucket.
        placement: `nodeSelector` and `tolerations` of its pods.
    """
    postgres = {
        "enabled": True,
        "host": database.host,
        "port": database.port,
        "database": database.name,
        "driver": "psycopg2",
    }
    return {
        "replicaCount": replicas,
        "serviceAccount": {"create": True, "name": NAME},
        "backendStore": {"postgres": postgres, "existingDatabaseSecret": {"name": USER_SECRET}},
        # Clients send artifacts to the server; only the server has access to the bucket.
        "artifactRoot": {
            "proxiedArtifactStorage": True,
            "s3": {"enabled": True, "bucket": bucket, "path": ARTIFACTS},
        },
        "extraEnvVars": {**_environment(region), "PGSSLMODE": "require", "PGPASSFILE": PASSWORD_FILE},
        "initContainers": [_password_container(region, database), _tables_container(region)],
        "extraVolumes": [
            {"name": "database", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}},
            {"name": "scripts", "configMap": {"name": SCRIPTS}},
        ],
        "extraVolumeMounts": [_mount(read_only=True)],
        "podSecurityContext": {"fsGroup": 1001, "seccompProfile": {"type": "RuntimeDefault"}},
        "securityContext": _SECURITY,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
        "resources": sized("250m", "2Gi"),
        "affinity": _apart(),
        **placement,
    }


def _environment(region: str) -> dict[str, str]:
    return {"AWS_REGION": region, "AWS_DEFAULT_REGION": region}


def _password_container(region: str, database: DatabaseOutputs) -> dict[str, Any]:
    """A sidecar container: an init container with `restartPolicy: Always`; the next one starts after its startup probe
    succeeds (kubernetes.io, "Sidecar Containers", stable since 1.33)."""
    return {
        "name": "database-password",
        "image": IMAGE,
        "restartPolicy": "Always",
        "command": ["python", f"{_SCRIPT_FOLDER}/password_file.py", database.secret_arn, PASSWORD_FILE],
        "env": [{"name": key, "value": value} for key, value in _environment(region).items()],
        "startupProbe": {
            "exec": {"command": ["test", "-s", PASSWORD_FILE]},
            "periodSeconds": 2,
            "failureThreshold": 60,
        },
        "securityContext": _SECURITY,
        "resources": sized("10m", "128Mi"),
        "volumeMounts": [_mount(read_only=False), _scripts()],
    }


def _tables_container(region: str) -> dict[str, Any]:
    connection = {"PGSSLMODE": "require", "PGPASSFILE": PASSWORD_FILE, "PGUSER": USER, **_environment(region)}
    return {
        "name": "database-tables",
        "image": IMAGE,
        "command": ["python", f"{_SCRIPT_FOLDER}/tables.py"],
        "env": [{"name": key, "value": value} for key, value in connection.items()],
        # Host, port and database, from the chart's ConfigMap for the server.
        "envFrom": [{"configMapRef": {"name": f"{NAME}-env-configmap"}}],
        "securityContext": _SECURITY,
        "resources": sized("100m", "512Mi"),
        "volumeMounts": [_mount(read_only=True), _scripts(), {"name": "tmp", "mountPath": "/tmp"}],  # noqa: S108
    }


def _mount(*, read_only: bool) -> dict[str, Any]:
    return {"name": "database", "mountPath": str(Path(PASSWORD_FILE).parent), "readOnly": read_only}


def _scripts() -> dict[str, Any]:
    return {"name": "scripts", "mountPath": _SCRIPT_FOLDER, "readOnly": True}


def _apart() -> dict[str, Any]:
    """Anti-affinity that prefers different nodes for the servers."""
    term = {
        "topologyKey": "kubernetes.io/hostname",
        "labelSelector": {"matchLabels": {"app.kubernetes.io/name": NAME}},
    }
    preferred = [{"weight": 100, "podAffinityTerm": term}]
    return {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}


def before(namespace: str) -> dict[str, dict[str, Any]]:
    """Manifests that the pods need: the scripts, and a Secret with the user name and an empty password."""
    return {
        "scripts": {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": SCRIPTS, "namespace": namespace},
            "data": {"password_file.py": _PASSWORD_SCRIPT, "tables.py": _TABLES_SCRIPT},
        },
        "database-user": {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": USER_SECRET, "namespace": namespace},
            "type": "Opaque",
            "stringData": {"username": USER, "password": ""},
        },
    }


def budget(namespace: str) -> dict[str, Any]:
    """A PodDisruptionBudget, which the chart doesn't have: a drain evicts one server at a time."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": NAME, "namespace": namespace},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app.kubernetes.io/name": NAME}}},
    }

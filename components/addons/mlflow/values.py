"""Values of MLflow's chart, the containers that provide the password file and the tables, and network policies. Pure.

Only a team's pods reach its server, which has no login. A pod's namespace is its identity: the API server sets it, and
only the platform labels namespaces with their team. The VPC CNI enforces the policies on the node of the server.

The chart takes a password only from a Kubernetes Secret, in an environment variable: a copy that would be stale after
seven days. Here the variable is empty; libpq treats it as unset and reads the password file (postgres,
src/interfaces/libpq/fe-connect.c, pqConnectOptions2; 17). The chart's own migration can't read that file, so an init
container here replaces it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pulumi

from components.base.operator import UNPRIVILEGED, object_of
from components.base.outputs import DatabaseOutputs
from components.base.placement import sized
from components.storage.database import USER
from spec.teams import labels, tracking


def ingress(namespace: str, teams: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Policies by key: nothing is allowed, except each team to its server.

    Args:
        namespace: Namespace of the servers.
        teams: Names of the teams.
    """
    policies = {"ingress": _policy(namespace, "default-deny", {"podSelector": {}, "policyTypes": ["Ingress"]})}
    return policies | {f"ingress-{team}": _policy(namespace, tracking.server(team), _of_team(team)) for team in teams}


def pods_of(team: str) -> dict[str, Any]:
    """Selector of the pods of a team's server (chart mlflow 1.11.5, `mlflow.selectorLabels`)."""
    return {"matchLabels": {"app.kubernetes.io/instance": tracking.server(team)}}


def _of_team(team: str) -> dict[str, Any]:
    allowed = {"namespaceSelector": {"matchLabels": {labels.TEAM: team}}}
    return {
        "podSelector": pods_of(team),
        "policyTypes": ["Ingress"],
        "ingress": [{"from": [allowed], "ports": [{"protocol": "TCP", "port": tracking.PORT}]}],
    }


def _policy(namespace: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return object_of("networking.k8s.io/v1", "NetworkPolicy", name, namespace, spec=spec)


NAME: Final = tracking.NAMESPACE
IMAGE: Final = "burakince/mlflow:3.15.1"
"""The chart's image (1.11.5, `appVersion`), for the containers that the chart doesn't define."""
USER_SECRET: Final = "mlflow-database-user"  # noqa: S105 - a name
SCRIPTS: Final = "mlflow-scripts"
PASSWORD_FILE: Final = "/run/database/password"  # noqa: S105 - where it is, not what
SCRIPT_FOLDER: Final = "/opt/slipway"
PASSWORD_SCRIPT: Final = Path(__file__).with_name("password_file.py").read_text(encoding="utf-8")
_TABLES_SCRIPT: Final = Path(__file__).with_name("tables.py").read_text(encoding="utf-8")
_SECURITY: Final = {
    **UNPRIVILEGED,
    "readOnlyRootFilesystem": True,
    "runAsNonRoot": True,
    "privileged": False,
    "runAsUser": 1001,
    "runAsGroup": 1001,
}


@dataclass(frozen=True, kw_only=True)
class TeamServer:
    """The tracking server of one team."""

    team: str
    replicas: int
    region: str  # AWS Region of the secret and the bucket
    database: DatabaseOutputs  # the instance; each team has a database of its own on it
    bucket: pulumi.Input[str]  # name of the bucket of tracked files


def values(server: TeamServer, placement: dict[str, Any]) -> dict[str, Any]:
    """Values of the chart (1.11.5) that differ from its defaults.

    Args:
        server: The server.
        placement: `nodeSelector` and `tolerations` of its pods.
    """
    database, region, name = server.database, server.region, tracking.server(server.team)
    postgres = {
        "enabled": True,
        "host": database.host,
        "port": database.port,
        "database": tracking.database(server.team),
        "driver": "psycopg2",
    }
    return {
        "replicaCount": server.replicas,
        "serviceAccount": {"create": True, "name": name},
        "backendStore": {"postgres": postgres, "existingDatabaseSecret": {"name": USER_SECRET}},
        # Clients write files to S3 themselves, with their team's permissions: what the registry records is an address
        # that the team's model servers can read, and no file passes through the server.
        "artifactRoot": {
            "proxiedArtifactStorage": False,
            "s3": {"enabled": True, "bucket": server.bucket, "path": tracking.prefix(server.team)},
        },
        "extraFlags": ["noServeArtifacts"],
        # One process of 0.25 GiB instead of four: replicas serve in parallel (MLflow 3.15.1, `mlflow server --help`).
        "extraArgs": {"workers": "1"},
        # MLflow answers requests for any other host with 403, except for local names and private addresses
        # (mlflow/server/security_utils.py, `get_default_allowed_hosts`, 3.15.1).
        "serverAllowedHosts": [*tracking.hosts(server.team), "localhost", "localhost:*", "127.0.0.1:*"],
        "extraEnvVars": {
            **_environment(region),
            "PGSSLMODE": "require",
            "PGPASSFILE": PASSWORD_FILE,
            # Six more processes, which run evaluations of generative models on the server.
            "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
        },
        "initContainers": [
            password_container(region, database, PASSWORD_FILE, written=PASSWORD_FILE),
            _tables_container(server),
        ],
        "extraVolumes": [
            {"name": "database", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}},
            {"name": "scripts", "configMap": {"name": SCRIPTS}},
        ],
        "extraVolumeMounts": [_mount(read_only=True)],
        "podSecurityContext": {"fsGroup": 1001, "seccompProfile": {"type": "RuntimeDefault"}},
        "securityContext": _SECURITY,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
        "resources": sized("100m", "1Gi"),
        "affinity": _apart(name),
        **placement,
    }


def _environment(region: str) -> dict[str, str]:
    return {"AWS_REGION": region, "AWS_DEFAULT_REGION": region}


def password_container(region: str, database: DatabaseOutputs, *arguments: str, written: str) -> dict[str, Any]:
    """A sidecar container: an init container with `restartPolicy: Always`; the next one starts after its startup probe
    succeeds (kubernetes.io, "Sidecar Containers", stable since 1.33).

    Args:
        region: AWS Region of the secret.
        database: The database.
        arguments: Of the script, after the secret.
        written: The file that it writes last.
    """
    return {
        "name": "database-password",
        "image": IMAGE,
        "restartPolicy": "Always",
        "command": ["python", f"{SCRIPT_FOLDER}/password_file.py", database.secret_arn, *arguments],
        "env": [{"name": key, "value": value} for key, value in _environment(region).items()],
        "startupProbe": {
            "exec": {"command": ["test", "-s", written]},
            "periodSeconds": 2,
            "failureThreshold": 60,
        },
        "securityContext": _SECURITY,
        "resources": sized("10m", "128Mi"),
        "volumeMounts": [_mount(read_only=False), _scripts()],
    }


def _tables_container(server: TeamServer) -> dict[str, Any]:
    connection = {"PGSSLMODE": "require", "PGPASSFILE": PASSWORD_FILE, "PGUSER": USER, **_environment(server.region)}
    return {
        "name": "database-tables",
        "image": IMAGE,
        "command": ["python", f"{SCRIPT_FOLDER}/tables.py", server.database.name],
        "env": [{"name": key, "value": value} for key, value in connection.items()],
        # Host, port and database, from the chart's ConfigMap for the server.
        "envFrom": [{"configMapRef": {"name": f"{tracking.server(server.team)}-env-configmap"}}],
        "securityContext": _SECURITY,
        "resources": sized("100m", "512Mi"),
        "volumeMounts": [_mount(read_only=True), _scripts(), {"name": "tmp", "mountPath": "/tmp"}],  # noqa: S108
    }


def _mount(*, read_only: bool) -> dict[str, Any]:
    return {"name": "database", "mountPath": str(Path(PASSWORD_FILE).parent), "readOnly": read_only}


def _scripts() -> dict[str, Any]:
    return {"name": "scripts", "mountPath": SCRIPT_FOLDER, "readOnly": True}


def _apart(name: str) -> dict[str, Any]:
    """Anti-affinity that prefers different nodes for the servers."""
    term = {
        "topologyKey": "kubernetes.io/hostname",
        "labelSelector": {"matchLabels": {"app.kubernetes.io/instance": name}},
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
            "data": {"password_file.py": PASSWORD_SCRIPT, "tables.py": _TABLES_SCRIPT},
        },
        "database-user": object_of(
            "v1", "Secret", USER_SECRET, namespace, type="Opaque", stringData={"username": USER, "password": ""}
        ),
    }


def budget(namespace: str, team: str) -> dict[str, Any]:
    """A PodDisruptionBudget, which the chart doesn't have: a drain evicts one server at a time."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": tracking.server(team), "namespace": namespace},
        "spec": {"maxUnavailable": 1, "selector": pods_of(team)},
    }

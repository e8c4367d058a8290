"""Where a team tracks its experiments: its own server, and its own prefix of the bucket `models`.

One place, because four parts have to agree: the server that records the address of a file, the workloads that write it,
the network policies between them, and the model servers that read it.
"""

from typing import Final

NAMESPACE: Final = "mlflow"  # namespace of the servers; also the directory of tracked files below a team's prefix
VARIABLE: Final = "MLFLOW_TRACKING_URI"
"""Environment variable from which MLflow's clients take the address (mlflow.org, "Tracking Server")."""
PORT: Final = 5000  # port of the servers' pods; their Services have port 80


def server(team: str) -> str:
    """Name of a team's server: release, Service, service account."""
    return f"{NAMESPACE}-{team}"


def hosts(team: str) -> tuple[str, ...]:
    """Names under which clients in the cluster reach the server; the shortest first."""
    name = f"{server(team)}.{NAMESPACE}"
    return name, f"{name}.svc", f"{name}.svc.cluster.local"


def address(team: str) -> str:
    """Address of a team's server, for clients in the cluster."""
    return f"http://{hosts(team)[0]}"


def prefix(team: str) -> str:
    """Prefix of a team's tracked files in the bucket `models`: below the team's own, which its pods read and write."""
    return f"{team}/{NAMESPACE}"


def database(team: str) -> str:
    """Name of a team's database. A team's name has no underscore, so two teams can't have the same."""
    return f"mlflow_{team.replace('-', '_')}"

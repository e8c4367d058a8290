"""Where a namespace's pipelines are: its own server of Kubeflow Pipelines, and its own prefix of the bucket `state`.

One place, because three parts have to agree: the server, what a namespace has to reach it, and the network policies
between them. Names and ports that clients know are those of github.com/kubeflow/pipelines, tag 2.17.0.
"""

from collections.abc import Mapping
from typing import Final

NAMESPACE: Final = "kubeflow-pipelines"  # namespace of the servers
ROLE: Final = "slipway-kubeflow-pipelines"
"""ClusterRole of a server; it is bound only in the namespace of its pipelines."""
STEPS: Final = "slipway-kubeflow-pipelines-steps"
"""ClusterRole of what runs in the pods of steps beside a component: driver and launcher."""
LAUNCHER: Final = "kfp-launcher"
"""ConfigMap in which driver and launcher find the root of artifacts (backend/src/v2/config/env.go)."""
LABEL: Final = "app.kubernetes.io/instance"  # label of a server's pod with its name
PORTS: Final[Mapping[str, int]] = {"http": 8888, "grpc": 8887, "metadata": 8080}
"""Ports of a server's pod: the API, the API by gRPC, and metadata."""
ALIASES: Final = ("metadata-grpc-service", "ml-pipeline")
"""Services by which drivers, launchers and clients of a namespace reach its server. Upstream expects them in the
namespace of the runs (backend/src/v2/metadata/env.go and config/env.go)."""


def server(namespace: str) -> str:
    """Name of a namespace's server: Deployment, Service, service account."""
    return f"pipelines-{namespace}"


def host(namespace: str) -> str:
    """Host name of a namespace's server."""
    return f"{server(namespace)}.{NAMESPACE}.svc.cluster.local"


def prefix(namespace: str) -> str:
    """Prefix of its artifacts in the bucket `state`: below that of the namespace's workflows, which its pods write."""
    return f"argo/{namespace}/pipelines"


def database(namespace: str, part: str) -> str:
    """Name of one of its databases: `mlpipeline` for runs, `metadb` for metadata. A namespace's name has no underscore,
    so two namespaces can't have the same."""
    return f"{part}_{namespace.replace('-', '_')}"

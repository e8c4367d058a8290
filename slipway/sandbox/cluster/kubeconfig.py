"""The kubeconfig of the sandbox: a context for each running cluster, with the admin's token."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from slipway.files import write_atomically
from slipway.sandbox.ports import ClusterEndpoint

USER = "slipway-sandbox-admin"


def kubeconfig(clusters: Mapping[str, ClusterEndpoint], token: str) -> dict[str, Any]:
    """The document. The newest cluster, the last in the mapping, is the current context."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": list(clusters)[-1] if clusters else "",
        "clusters": [
            {
                "name": name,
                "cluster": {"server": at.server, "certificate-authority-data": at.certificate_authority},
            }
            for name, at in clusters.items()
        ],
        "users": [{"name": USER, "user": {"token": token}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": USER}} for name in clusters],
    }


def write_kubeconfig(path: Path, clusters: Mapping[str, ClusterEndpoint], token: str) -> None:
    """Replace the file in one step: a kubectl that reads it at the same moment sees the old or the new one."""
    write_atomically(path, yaml.safe_dump(kubeconfig(clusters, token), sort_keys=False))

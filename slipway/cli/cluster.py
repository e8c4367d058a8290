"""A client of a cluster in the sandbox."""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path

import yaml

from slipway.sandbox.kubernetes.client import KubeClient


def client_of(kubeconfig: Path, cluster: str) -> KubeClient | None:
    """The admin's client of a cluster; None if the kubeconfig lacks it."""
    try:
        document = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))
    except OSError:
        return None
    for entry in document.get("clusters") or ():
        if entry["name"] == cluster:
            authority = b64decode(entry["cluster"]["certificate-authority-data"]).decode()
            return KubeClient(entry["cluster"]["server"], authority, document["users"][0]["user"]["token"])
    return None

"""The user's own access to a cluster: the kubeconfig that kubectl uses, with a token or a program that prints one."""

from __future__ import annotations

import json
import os
import subprocess
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from slipway.sandbox.kubernetes.client import KubeClient
from spec.errors import SlipwayError

VARIABLE: Final = "KUBECONFIG"
TIMEOUT: Final = 60


@dataclass(frozen=True)
class Context:
    """A context of a kubeconfig.

    Attributes:
        name: Its name.
        namespace: Its namespace; empty if it has none.
        cluster: Name of its cluster: an ARN if `aws eks update-kubeconfig` wrote it.
        entry: Server and certificate authority.
        user: Credentials.
    """

    name: str
    namespace: str
    cluster: str
    entry: Mapping[str, Any]
    user: Mapping[str, Any]

    @property
    def cluster_name(self) -> str:
        """Name of the cluster in EKS."""
        return self.cluster.rpartition("/")[2]

    def client(self) -> KubeClient:
        """A client with the credentials of the context.

        Raises:
            SlipwayError: It has credentials of another kind, or its program fails.
        """
        data, file = self.entry.get("certificate-authority-data"), self.entry.get("certificate-authority")
        if not data and not file:
            msg = f"context {self.name} of the kubeconfig has no certificate authority"
            raise SlipwayError(msg)
        authority = b64decode(data).decode() if data else Path(str(file)).read_text(encoding="utf-8")
        return KubeClient(str(self.entry["server"]), authority, self._token())

    def _token(self) -> str:
        if self.user.get("token"):
            return str(self.user["token"])
        if self.user.get("tokenFile"):
            return Path(self.user["tokenFile"]).read_text(encoding="utf-8").strip()
        if self.user.get("exec"):
            return _executed(self.user["exec"])
        msg = f"context {self.name} of the kubeconfig has neither a token nor a program that prints one"
        raise SlipwayError(msg)


def _executed(program: Mapping[str, Any]) -> str:
    """The token that a credential program prints (client-go, "Credential Plugins")."""
    argv = [str(program["command"]), *map(str, program.get("args") or ())]
    more = {str(one["name"]): str(one["value"]) for one in program.get("env") or ()}
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, timeout=TIMEOUT, check=True, env={**os.environ, **more}
        )
        return str(json.loads(done.stdout)["status"]["token"])
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError) as error:
        text = (getattr(error, "stderr", None) or str(error)).strip()
        msg = f"`{' '.join(argv)}` gave no token: {text}"
        raise SlipwayError(msg) from error


def contexts() -> list[Context]:
    """The contexts of the user's kubeconfig, the current one first; none without a file."""
    found: dict[str, Context] = {}
    current = ""
    for path in _files():
        document = _read(path)
        clusters, users = _by_name(document, "cluster"), _by_name(document, "user")
        current = current or str(document.get("current-context") or "")
        for entry in document.get("contexts") or ():
            inner = entry.get("context") or {}
            cluster = str(inner.get("cluster"))
            if cluster in clusters and inner.get("user") in users:
                namespace = str(inner.get("namespace") or "")
                one = Context(str(entry["name"]), namespace, cluster, clusters[cluster], users[inner["user"]])
                found.setdefault(one.name, one)
    return sorted(found.values(), key=lambda one: one.name != current)


def _files() -> list[Path]:
    given = os.environ.get(VARIABLE)
    return [Path(one) for one in given.split(os.pathsep) if one] if given else [Path.home() / ".kube" / "config"]


def _read(path: Path) -> Mapping[str, Any]:
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except yaml.YAMLError as error:
        msg = f"{path} is not a kubeconfig: {error}"
        raise SlipwayError(msg) from error
    return document if isinstance(document, Mapping) else {}


def _by_name(document: Mapping[str, Any], kind: str) -> dict[str, Mapping[str, Any]]:
    return {str(one["name"]): one.get(kind) or {} for one in document.get(f"{kind}s") or ()}

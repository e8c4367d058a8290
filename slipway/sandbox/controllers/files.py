"""The folder of a controller: what a kubelet would mount into its container, and its credentials.

<folder>/root/...         files of its ConfigMaps and Secrets, where its container has them
<folder>/root/tmp         its temporary directory
<folder>/kubeconfig       the API server, and the token of its service account
<folder>/token            renewed long before it expires; client-go reads it again every minute
"""

from __future__ import annotations

import base64
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from slipway.files import write_atomically
from slipway.sandbox.cluster.kubeconfig import kubeconfig
from slipway.sandbox.controllers import launch as launching
from slipway.sandbox.controllers.launch import Launch, Mount
from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.objects import Ref
from slipway.sandbox.ports import ClusterEndpoint

TOKEN_SECONDS: Final = 24 * 3600
RENEWED_SECONDS: Final = 12 * 3600


class Files:
    """The folder of one controller."""

    def __init__(self, directory: Path, client: KubeClient, launch: Launch) -> None:
        self._directory = directory
        self._client = client
        self._launch = launch
        self._token_until = 0.0
        self._written: dict[Path, bytes] = {}

    @property
    def root(self) -> Path:
        """What its container would have as `/`."""
        return self._directory / "root"

    @property
    def temporary(self) -> Path:
        """Its temporary directory."""
        return self.root / "tmp"

    @property
    def kubeconfig(self) -> Path:
        """Its credentials."""
        return self._directory / "kubeconfig"

    def write(self, values: Mapping[str, Any]) -> str:
        """Write all files; returns what is missing, empty if nothing is. Raises ApiError.

        Args:
            values: What the texts of its row stand for.
        """
        self.temporary.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._credentials()
        missing = [each for mount in self._launch.mounts if (each := self._mirror(mount, values))]
        return ", ".join(missing)

    def refresh(self, values: Mapping[str, Any]) -> None:
        """Bring Secrets up to date, as a kubelet does, and renew the token. Raises ApiError."""
        if time.monotonic() > self._token_until:
            self._token()
        for mount in self._launch.mounts:
            if mount.kind == "Secret":
                self._mirror(mount, values)

    def _credentials(self) -> None:
        endpoint = ClusterEndpoint(self._client.server, self._client.certificate_authority)
        document = kubeconfig({"sandbox": endpoint}, "")
        document["users"][0]["user"] = {"tokenFile": str(self._directory / "token")}
        self._token()
        write_atomically(self.kubeconfig, yaml.safe_dump(document, sort_keys=False))

    def _token(self) -> None:
        path = f"/api/v1/namespaces/{self._launch.namespace}/serviceaccounts/{self._launch.account}/token"
        request = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": TOKEN_SECONDS},
        }
        token = self._client.call("POST", path, request)["status"]["token"]
        write_atomically(self._directory / "token", token)
        self._token_until = time.monotonic() + RENEWED_SECONDS

    def _mirror(self, mount: Mount, values: Mapping[str, Any]) -> str:
        found = self._client.get(Ref("v1", mount.kind, mount.name, self._launch.namespace))
        if found is None:
            return f"{mount.kind} {mount.name}"
        texts = {key: text.encode() for key, text in (found.get("data") or {}).items()}
        if mount.kind == "Secret":
            texts = {key: base64.b64decode(text) for key, text in texts.items()}
        where = self.root / mount.path.lstrip("/")
        for key, content in texts.items():
            if not mount.key:
                self._put(where / key, content, values)
            elif key == mount.key:
                self._put(where, content, values)
        return ""

    def _put(self, path: Path, content: bytes, values: Mapping[str, Any]) -> None:
        if path == self.root / launching.configuration_path(self._launch).lstrip("/"):
            content = launching.configured(content.decode(), self._launch.controller, values).encode()
        if self._written.get(path) != content:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.touch(mode=0o600)
            path.write_bytes(content)
            self._written[path] = content

"""Clients of clusters: in the sandbox, on AWS, and by the user's own kubeconfig, as kubectl uses it."""

import json
import os
import subprocess
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from sandbox.kubernetes.client import KubeClient
from slipway.account.context import reachable, session
from slipway.cli import offline
from slipway.teardown import access
from spec import strict_yaml
from spec.errors import SlipwayError, fail, refuse
from spec.settings import Platform


def client_of(kubeconfig: Path, cluster: str) -> KubeClient | None:
    """The admin's client of a cluster in the sandbox; None if the kubeconfig lacks it."""
    try:
        document = strict_yaml.one(strict_yaml.text_of(kubeconfig))
    except OSError:
        return None
    for entry in document.get("clusters") or ():
        if entry["name"] == cluster:
            authority = b64decode(entry["cluster"]["certificate-authority-data"]).decode()
            return KubeClient(entry["cluster"]["server"], authority, document["users"][0]["user"]["token"])
    return None


def names_of(kubeconfig: Path) -> list[str]:
    """Names of the clusters of a kubeconfig of the sandbox; none without a file."""
    return sorted(_by_name(_read(kubeconfig), "cluster"))


def connect(platform: Platform, *, simulated: bool) -> KubeClient:
    """A client of the stack's cluster: in the sandbox the administrator's, on AWS that of the current credentials."""
    return of_sandbox(platform) if simulated else of_aws(platform)


def of_sandbox(platform: Platform) -> KubeClient:
    """A client of a stack's cluster in the sandbox."""
    sandbox = offline.find_running()
    client = client_of(sandbox.kubeconfig, platform.cluster_name) if sandbox else None
    if client is None:
        command = f"slipway up {platform.environment.name} --sandbox"
        fail(f"the sandbox has no cluster {platform.cluster_name}: run `{command}` first")
    offline.say_missing()
    return client


def only_in_sandbox() -> KubeClient:
    """A client of the sandbox's only cluster, whoever made it."""
    sandbox = offline.find_running()
    if sandbox is None:
        fail("no sandbox runs here: `slipway sandbox start`, or `slipway sandbox run -- COMMAND`, starts one")
    names = names_of(sandbox.kubeconfig)
    if len(names) != 1:
        several = f"several clusters ({', '.join(names)}): name a stack"
        refuse(f"the sandbox has {several if names else 'no cluster yet: create one first'}")
    client = client_of(sandbox.kubeconfig, names[0])
    assert client is not None  # noqa: S101 - the same file
    offline.say_missing()
    return client


def served_by(client: KubeClient) -> str:
    """The minor version of a cluster: what a server emulates is what it serves; EKS writes 35 as `35+`."""
    answer = client.get_path("/version")
    return f"1.{str(answer.get('emulationMinor') or answer['minor']).rstrip('+')}"


def of_aws(platform: Platform) -> KubeClient:
    """A client of a stack's cluster on AWS, with the credentials of the AWS CLI."""
    region = platform.account.region
    with reachable():
        client = access.connect(session(region)("eks"), platform.cluster_name, region)
    if client is None:
        command = f"slipway up {platform.environment.name}"
        fail(f"EKS has no cluster {platform.cluster_name} in {region}: run `{command}` first")
    return client


VARIABLE: Final = "KUBECONFIG"
TIMEOUT: Final = 60


@dataclass(frozen=True)
class KubeContext:
    """A context of a kubeconfig."""

    name: str
    namespace: str  # its namespace; empty if it has none
    cluster: str  # name of its cluster: an ARN if `aws eks update-kubeconfig` wrote it
    entry: Mapping[str, Any]  # server and certificate authority
    user: Mapping[str, Any]  # credentials

    @property
    def cluster_name(self) -> str:
        """Name of the cluster in EKS."""
        return self.cluster.rpartition("/")[2]

    def client(self) -> KubeClient:
        """A client with the credentials of the context: a token, a client certificate, or what a program prints.

        Without a certificate authority in the kubeconfig, the machine's own are trusted, as kubectl does.
        """
        server = str(self.entry["server"])
        try:
            token, certificate = self._credentials()
            return KubeClient(server, _text(self.entry, "certificate-authority"), token, certificate)
        except (OSError, ValueError) as error:
            fail(f"context {self.name} of the kubeconfig can't be used: {error}", error)

    def _credentials(self) -> tuple[str, str]:
        """A token, and a client certificate with its key as PEM text; one of them is empty."""
        if self.user.get("token"):
            return str(self.user["token"]), ""
        if self.user.get("tokenFile"):
            return Path(self.user["tokenFile"]).read_text(encoding="utf-8").strip(), ""
        certificate, key = _text(self.user, "client-certificate"), _text(self.user, "client-key")
        if certificate and key:
            return "", f"{certificate}\n{key}"
        if self.user.get("exec"):
            return _executed(self.user["exec"])
        msg = (
            f"context {self.name} of the kubeconfig has neither a token, nor a client certificate with its key, nor a "
            "program that prints one of them"
        )
        raise SlipwayError(msg)


def _text(entry: Mapping[str, Any], name: str) -> str:
    """PEM text that a kubeconfig has itself (`NAME-data`) or in a file; empty if it has none."""
    if data := entry.get(f"{name}-data"):
        return b64decode(data).decode()
    file = entry.get(name)
    return Path(str(file)).read_text(encoding="utf-8") if file else ""


def _executed(program: Mapping[str, Any]) -> tuple[str, str]:
    """The token, or the client certificate and key, that a program prints (client-go, "Credential Plugins")."""
    argv = [str(program["command"]), *map(str, program.get("args") or ())]
    more = {str(one["name"]): str(one["value"]) for one in program.get("env") or ()}
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, timeout=TIMEOUT, check=True, env={**os.environ, **more}
        )
        status = json.loads(done.stdout)["status"]
        if status.get("clientCertificateData"):
            return str(status.get("token") or ""), f"{status['clientCertificateData']}\n{status['clientKeyData']}"
        return str(status["token"]), ""
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError) as error:
        text = (getattr(error, "stderr", None) or str(error)).strip()
        fail(f"`{' '.join(argv)}` gave no credentials: {text}", error)


def contexts() -> list[KubeContext]:
    """The contexts of the user's kubeconfig, the current one first; none without a file."""
    found: dict[str, KubeContext] = {}
    current = ""
    for path in _files():
        document = _read(path)
        clusters, users = (
            {name: _resolved(entry, path.absolute().parent) for name, entry in _by_name(document, kind).items()}
            for kind in ("cluster", "user")
        )
        current = current or str(document.get("current-context") or "")
        for entry in document.get("contexts") or ():
            inner = entry.get("context") or {}
            cluster = str(inner.get("cluster"))
            if cluster in clusters and inner.get("user") in users:
                namespace = str(inner.get("namespace") or "")
                one = KubeContext(str(entry["name"]), namespace, cluster, clusters[cluster], users[inner["user"]])
                found.setdefault(one.name, one)
    return sorted(found.values(), key=lambda one: one.name != current)


_PATHS: Final = ("certificate-authority", "client-certificate", "client-key", "tokenFile")


def _resolved(entry: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """A cluster or a user whose relative paths begin at the folder of its kubeconfig; a bare name of a program is one
    of PATH (client-go v0.36.3, tools/clientcmd/loader.go, GetClusterFileReferences and GetAuthInfoFileReferences)."""
    found = {key: str(folder / value) if key in _PATHS and value else value for key, value in entry.items()}
    program = found.get("exec")
    if isinstance(program, Mapping) and os.sep in str(program.get("command")):
        found["exec"] = {**program, "command": str(folder / program["command"])}
    return found


def _files() -> list[Path]:
    given = os.environ.get(VARIABLE)
    return [Path(one) for one in given.split(os.pathsep) if one] if given else [Path.home() / ".kube" / "config"]


def _read(path: Path) -> Mapping[str, Any]:
    try:
        document = strict_yaml.one(strict_yaml.text_of(path))
    except FileNotFoundError:
        return {}
    except yaml.YAMLError as error:
        fail(f"{path} is not a kubeconfig: {error}", error)
    return document if isinstance(document, Mapping) else {}


def _by_name(document: Mapping[str, Any], kind: str) -> dict[str, Mapping[str, Any]]:
    return {str(one["name"]): one.get(kind) or {} for one in document.get(f"{kind}s") or ()}

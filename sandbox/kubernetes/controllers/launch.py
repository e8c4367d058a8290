"""What a controller's process gets of its Deployment: arguments, variables, identity, ports, and its folder."""

import base64
import time
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from sandbox.cluster.pki import kubeconfig, self_signed
from sandbox.files import write_atomically
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.controllers.table import Controller, of_image
from sandbox.kubernetes.objects import Object, Ref
from sandbox.ports import ClusterEndpoint
from spec import strict_yaml

# What a controller's Deployment says about its process: arguments, variables, files, identity, ports. Pure.

CONFIGURATION: Final = "--config"


@dataclass(frozen=True)
class Mount:
    """A ConfigMap or Secret that the container mounts: all of its keys in the folder `path`, or `key` as that file."""

    kind: str
    name: str
    path: str
    key: str = ""


@dataclass(frozen=True)
class Launch:
    """A process to run."""

    controller: Controller  # row of the table
    namespace: str  # where it runs
    deployment: str  # name of its Deployment
    account: str  # its service account
    arguments: tuple[str, ...]  # those of its container
    environment: tuple[tuple[str, str], ...]  # variables of its container whose value is known here
    mounts: tuple[Mount, ...]  # files of its container
    labels: tuple[tuple[str, str], ...]  # labels of its pods
    ports: tuple[tuple[str, int], ...]  # number of each port of its container that has a name
    annotations: tuple[tuple[str, str], ...] = ()
    """Those of its pods. Charts put the checksum of a configuration there, which is read at the start."""

    def selected(self, selector: Mapping[str, str] | None) -> bool:
        """Whether a Service with this selector leads to its pods."""
        return bool(selector) and dict(selector or {}).items() <= dict(self.labels).items()

    def port(self, target: str | int) -> int | None:
        """The number of the container's port that a Service targets by number or name."""
        return target if isinstance(target, int) else dict(self.ports).get(target)


def of_deployment(deployment: Object) -> Launch | None:
    """What to run for a Deployment; None if it is no controller of the table, or is scaled to zero."""
    metadata, spec = deployment["metadata"], deployment["spec"]
    template = spec["template"]
    if spec.get("replicas") == 0 or metadata.get("deletionTimestamp"):
        return None
    for container in template["spec"]["containers"]:
        controller = of_image(str(container.get("image") or ""))
        if controller is None:
            continue
        return Launch(
            controller,
            metadata["namespace"],
            metadata["name"],
            template["spec"].get("serviceAccountName") or "default",
            tuple(map(str, container.get("args") or ())),
            tuple(_variables(container, metadata)),
            tuple(_mounts(template["spec"], container)),
            tuple(sorted(((template["metadata"].get("labels")) or {}).items())),
            tuple((each["name"], each["containerPort"]) for each in container.get("ports") or () if each.get("name")),
            tuple(sorted(((template["metadata"].get("annotations")) or {}).items())),
        )
    return None


def arguments(launch: Launch, values: Mapping[str, Any]) -> list[str]:
    """The arguments of the process: its container's, with local files, and with the flags of its row."""
    ours = [str(filled(flag, values)) for flag in launch.controller.flags]
    replaced = {flag.partition("=")[0].lstrip("-") for flag in ours}
    theirs = list(_without(launch.arguments, replaced))
    for mount in launch.mounts:
        theirs = [
            f"{name}={values['root']}{value}" if value.startswith(mount.path) else each
            for each in theirs
            for name, _, value in (each.partition("="),)
        ]
    return [*theirs, *ours]


def _without(arguments: Iterable[str], flags: Container[str]) -> Iterator[str]:
    """The arguments without some flags and their values, which may be arguments of their own."""
    removed = False
    for each in arguments:
        flag, equals, _ = each.partition("=")
        if not each.startswith("-"):
            if not removed:
                yield each
            removed = False
        elif flag.lstrip("-") in flags:
            removed = not equals
        else:
            removed = False
            yield each


def configuration_path(launch: Launch) -> str:
    """Where its container has the configuration file; empty if it has none."""
    named = [each.partition("=")[2] for each in launch.arguments if each.partition("=")[0] == CONFIGURATION]
    return named[0] if named else ""


def configured(text: str, controller: Controller, values: Mapping[str, Any]) -> str:
    """Its configuration file with the fields of its row."""
    return str(yaml.safe_dump(_merged(strict_yaml.one(text) or {}, filled(controller.configuration, values))))


def filled(template: Any, values: Mapping[str, Any]) -> Any:
    """A text, or all texts in a structure, with `{NAME}` replaced; a text that is one name gets the value itself."""
    if isinstance(template, Mapping):
        return {key: filled(value, values) for key, value in template.items()}
    if isinstance(template, Sequence) and not isinstance(template, str):
        return [filled(each, values) for each in template]
    if not isinstance(template, str):
        return template
    name = template[1:-1]
    return values[name] if template == f"{{{name}}}" else template.format_map(values)


def _merged(below: Any, above: Any) -> Any:
    if isinstance(below, dict) and isinstance(above, Mapping):
        return {**below, **{key: _merged(below.get(key), value) for key, value in above.items()}}
    return above


def _variables(container: Mapping[str, Any], metadata: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    known = {"metadata.namespace": metadata["namespace"], "metadata.name": metadata["name"]}
    for variable in container.get("env") or ():
        field = ((variable.get("valueFrom") or {}).get("fieldRef") or {}).get("fieldPath")
        value = variable.get("value") if field is None else known.get(field)
        if value is not None:
            yield variable["name"], value


def _mounts(spec: Mapping[str, Any], container: Mapping[str, Any]) -> Iterator[Mount]:
    volumes = {each["name"]: each for each in spec.get("volumes") or ()}
    for mount in container.get("volumeMounts") or ():
        volume = volumes.get(mount["name"]) or {}
        secret, config = volume.get("secret") or {}, volume.get("configMap") or {}
        for kind, name in (("Secret", secret.get("secretName")), ("ConfigMap", config.get("name"))):
            if name:
                yield Mount(kind, name, mount["mountPath"], mount.get("subPath") or "")


# The folder of a controller: what a kubelet would mount into its container, and its credentials.
#
# <folder>/root/...         files of its ConfigMaps and Secrets, where its container has them
# <folder>/root/tmp         its temporary directory
# <folder>/kubeconfig       the API server, and the token of its service account
# <folder>/token            renewed long before it expires; client-go reads it again every minute

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
        if path == self.root / configuration_path(self._launch).lstrip("/"):
            content = configured(content.decode(), self._launch.controller, values).encode()
        if self._written.get(path) != content:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.touch(mode=0o600)
            path.write_bytes(content)
            self._written[path] = content


# The certificate of a controller's webhooks, where the sandbox issues it.
#
# It is in the Secret that the controller's container mounts, as it would be by the controller's own management of
# certificates or by cert-manager: an existing certificate is kept, so that an upgrade changes nothing.

AUTHORITY: Final = "ca.crt"
KEYS: Final = ("tls.crt", "tls.key", AUTHORITY)


def issue_certificate(client: KubeClient, launch: Launch) -> None:
    """Write the certificate into its Secret unless there is one. Raises ApiError."""
    secret = _certificate_secret(launch)
    if secret is None:
        return
    found = client.get(secret)
    if found is None or _has_certificate(found):
        # A Secret that does not exist is reported by whoever mounts it.
        return
    hosts = [f"{name}.{launch.namespace}.svc" for name in launch.controller.services]
    certificate, key = self_signed(hosts)
    client.merge(secret, {"stringData": dict(zip(KEYS, (certificate, key, certificate), strict=True))})


def certificate_bundle(client: KubeClient, launch: Launch) -> str:
    """The `caBundle` of its webhooks, in base64; empty as long as there is no certificate. Raises ApiError."""
    secret = _certificate_secret(launch)
    found: dict[str, Any] = (client.get(secret) if secret is not None else None) or {}
    return str((found.get("data") or {}).get(AUTHORITY) or "") if _has_certificate(found) else ""


def _certificate_secret(launch: Launch) -> Ref | None:
    folder = f"/{launch.controller.certificates}"
    mounts = [each for each in launch.mounts if each.kind == "Secret" and each.path == folder]
    return Ref("v1", "Secret", mounts[0].name, launch.namespace) if mounts else None


def _has_certificate(secret: Object) -> bool:
    return all((secret.get("data") or {}).get(key) for key in KEYS)

"""What a controller's Deployment says about its process: arguments, variables, files, identity, ports. Pure."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import yaml

from slipway.sandbox.kubernetes.controllers import Controller, of_image
from slipway.sandbox.kubernetes.objects import Object

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
    """A process to run.

    Attributes:
        controller: Row of the table.
        namespace: Where it runs.
        deployment: Name of its Deployment.
        account: Its service account.
        arguments: Those of its container.
        environment: Variables of its container whose value is known here.
        mounts: Files of its container.
        labels: Labels of its pods.
        ports: Number of each port of its container that has a name.
        annotations: Those of its pods. Charts put the checksum of a configuration there, which is read at the start.
    """

    controller: Controller
    namespace: str
    deployment: str
    account: str
    arguments: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]
    mounts: tuple[Mount, ...]
    labels: tuple[tuple[str, str], ...]
    ports: tuple[tuple[str, int], ...]
    annotations: tuple[tuple[str, str], ...] = ()

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
    return str(yaml.safe_dump(_merged(yaml.safe_load(text) or {}, filled(controller.configuration, values))))


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

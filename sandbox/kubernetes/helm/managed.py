"""EKS add-ons that have a chart: installed with the configuration that the program gives to the add-on.

EKS applies an add-on's manifests by itself, in `kube-system`, from a chart of the same project. The configuration of an
add-on has the names of the chart's values (EKS User Guide, "Create an Amazon EKS add-on", configuration values).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sandbox import CHARTS as VARIABLE
from sandbox.errors import SandboxError
from sandbox.kubernetes.client import ApiError, KubeClient, NoSuchKindError
from sandbox.kubernetes.helm import binary, records
from sandbox.kubernetes.helm.chart import Charts
from sandbox.kubernetes.helm.preview import Plan, make_plan
from sandbox.kubernetes.helm.records import ReleaseName
from sandbox.kubernetes.helm.running import FailedReleaseError, install, uninstall
from sandbox.kubernetes.targets import Targets
from sandbox.notes import NoteKind
from sandbox.ports import Outcome

CHARTS: Final[Mapping[str, str]] = {
    "aws-ebs-csi-driver": "aws-ebs-csi-driver",
    "aws-efs-csi-driver": "aws-efs-csi-driver",
    "aws-fsx-csi-driver": "aws-fsx-csi-driver",
    "aws-mountpoint-s3-csi-driver": "aws-mountpoint-s3-csi-driver",
    "eks-node-monitoring-agent": "eks-node-monitoring-agent",
    "vpc-cni": "aws-vpc-cni",
}
"""The chart of each add-on that has one. kube-proxy, CoreDNS, the Pod Identity agent and metrics-server have none that
their project publishes for EKS."""
NAMESPACE: Final = "kube-system"
SECONDS: Final = 1200
"""EKS waits 20 minutes until an add-on is ACTIVE (hashicorp/terraform-provider-aws, internal/service/eks/addon.go)."""


@dataclass(frozen=True)
class AddonReleases:
    """Implements `ports.ManagedAddons`."""

    targets: Targets
    charts: Charts
    outcomes: dict[tuple[str, str], Outcome] = field(default_factory=dict)

    def problems(self, name: str, configuration: str | None) -> list[str]:
        """The problems with an add-on's configuration, one line each; none if its chart is not available."""
        plan = self._plan(name)
        values = _values(configuration)
        if values is None:
            return [f"configurationValues of {name} is not a JSON object: {configuration}"]
        return [] if plan is None else [f"configurationValues: {line}" for line in plan.problems(values)]

    def changed(self, cluster: str, name: str, configuration: str | None) -> None:
        """An add-on was created or updated. Raises SandboxError if its pods do not become ready."""
        client = self.targets.of_cluster(cluster)
        plan = self._plan(name)
        if client is None or plan is None or plan.chart is None or plan.helm is None:
            if client is not None and _require_unchanged(client, name, configuration):
                return
            why = plan.text if plan else f"add-on {name} has no chart in {VARIABLE}: none of its pods runs"
            self.outcomes[cluster, name] = Outcome(installed=False, text=why)
            return
        inputs = {**_inputs(name), "values": _values(configuration) or {}}
        try:
            installed = install(client, plan.helm, plan.chart, inputs, upgrade=True)
        except (FailedReleaseError, ApiError, NoSuchKindError) as error:
            msg = f"add-on {name} does not become ACTIVE: {error}"
            raise SandboxError(msg) from error
        about = [plan.text, *installed.effects, *(f"left out: {each}" for each in dict.fromkeys(installed.left_out))]
        self.outcomes[cluster, name] = Outcome(installed=True, text="; ".join(about))

    def outcome(self, cluster: str, name: str) -> Outcome | None:
        """What became of the last change of an add-on."""
        return self.outcomes.get((cluster, name))

    def behind(self, cluster: str, name: str) -> bool:
        """Whether its chart, which may have come since, would now be installed, or in another version."""
        plan = self._plan(name)
        if plan is None or plan.mode is not NoteKind.INSTALLED:
            return False
        before = self.outcomes.get((cluster, name))
        return before is None or not before.installed or not before.text.startswith(plan.text)

    def deleted(self, cluster: str, name: str) -> None:
        """An add-on was deleted. Raises SandboxError if Helm can't remove it."""
        self.outcomes.pop((cluster, name), None)
        client = self.targets.of_cluster(cluster)
        if client is not None and name in CHARTS and binary.available() is not None:
            uninstall(client, _inputs(name), missing_ok=True)

    def _plan(self, name: str) -> Plan | None:
        """How far the add-on can be rehearsed; None if it has no chart here."""
        if name not in CHARTS:
            return None
        plan = make_plan(self.charts, {"chart": CHARTS[name]})
        return plan if plan.chart is not None else None


def _inputs(name: str) -> dict[str, Any]:
    """A release that succeeds as a whole: AWS would keep a degraded add-on, and Pulumi replace it in the next run."""
    chart = CHARTS[name]
    named = {"name": chart, "namespace": NAMESPACE, "chart": chart}
    # Without values of its own, an upgrade would keep those of the revision before (helm v3, Upgrade.reuseValues).
    return {**named, "atomic": True, "timeout": SECONDS, "maxHistory": 1, "resetValues": True}


def _require_unchanged(client: KubeClient, name: str, configuration: str | None) -> bool:
    """Whether it is installed. Raises SandboxError if it has other values: without its chart it can't be changed."""
    revision = records.newest(client, ReleaseName(CHARTS[name], NAMESPACE)) if name in CHARTS else None
    if revision is not None and dict(revision.values) != (_values(configuration) or {}):
        msg = f"add-on {name} is installed, and can't be changed: its chart can't be installed from {VARIABLE} now"
        raise SandboxError(msg)
    return revision is not None


def _values(configuration: str | None) -> dict[str, Any] | None:
    """The values in an add-on's configuration; None if it is no JSON object."""
    if not configuration:
        return {}
    try:
        values = json.loads(configuration)
    except ValueError:
        return None
    return values if isinstance(values, dict) else None

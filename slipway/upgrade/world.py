"""What a plan is made from: what the cluster has, and what the program, its charts and manifests will have."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from sandbox.errors import SandboxError
from sandbox.kubernetes.client import ApiError, KubeClient
from sandbox.kubernetes.helm import binary
from sandbox.kubernetes.helm.chart import Charts
from slipway.account.context import Client
from slipway.charts.uses import RELEASE, Use, of_release
from slipway.render.program import record_platform
from spec import strict_yaml
from spec.catalog import kubernetes, upgrades
from spec.pools.pool_spec import PoolSpec
from spec.pools.resolution import resolve_all
from spec.settings import Platform

Object = Mapping[str, Any]
DEFINITION: Final = "CustomResourceDefinition"
ADDON: Final = "aws:eks/addon:Addon"
_NOT_READ: Final = frozenset({"Secret", "Event", "Lease", "Endpoints", "EndpointSlice", "ControllerRevision"})
"""Kinds that no rule concerns, and Secrets, which nothing needs to read."""


@dataclass(frozen=True, kw_only=True)
class World:
    """What a plan is made from."""

    version: str  # minor version of the control plane
    target: str  # the one to go to; an older one is the way back
    there: Sequence[Object] = ()  # objects of the cluster
    planned: Sequence[Object] = ()  # objects of the program, of charts and of manifests
    definitions: Sequence[Object] = ()  # CustomResourceDefinitions in `crds/` of charts, which Helm installs once
    releases: Mapping[str, Use] = field(default_factory=dict)  # releases of the program, by chart
    addons: Mapping[str, str] = field(
        default_factory=dict
    )  # versions of managed add-ons that the program pins, by name
    audit: Sequence[Object] = ()  # events of an audit log
    free: Mapping[str, int] | None = None  # free addresses of subnets, by ID; None where they can't be read
    pools: Mapping[str, PoolSpec] = field(default_factory=dict)  # pools of the stack
    now: datetime = field(default_factory=lambda: datetime.now(UTC))  # noqa: TID251 - jobs run now, whatever day is set
    unread: Sequence[str] = ()  # what could not be read, with the reason

    @property
    def back(self) -> bool:
        """Whether it is the way back."""
        return (kubernetes.skew(self.version, self.target) or 0) < 0

    def of_kind(self, *kinds: str) -> Iterator[Object]:
        """Objects of the cluster."""
        return (one for one in self.there if one["kind"] in kinds)

    def pods(self) -> Iterator[Object]:
        """Pods that run."""
        return (one for one in self.of_kind("Pod") if (one.get("status") or {}).get("phase") == "Running")

    def running(self) -> dict[str, str]:
        """Versions of software in the cluster, by its name in the catalog: the oldest of each."""
        # A Deployment keeps ReplicaSets of earlier versions, without pods.
        return _versions(one for one in self.there if one["kind"] != "ReplicaSet")

    def coming(self) -> dict[str, str]:
        """Versions of software that the upgrade brings."""
        found = _versions(self.planned)
        for name, row in upgrades.SOFTWARE.items():
            stated = [
                _stated(self.releases[chart], where) for chart, where in row.charts.items() if chart in self.releases
            ]
            for version in filter(None, (*stated, self.addons.get(row.addon))):
                found[name] = version.removeprefix("v").partition("-")[0]
        return found


def of_cluster(client: KubeClient) -> tuple[list[Object], list[str]]:
    """Objects of a cluster, and what of it can't be read."""
    found, unread = list[Object](), list[str]()
    for each in client.discovery.everything():
        try:
            found += client.list(each) if each.kind not in _NOT_READ else ()
        except ApiError as error:
            unread.append(f"{each.kind}: {error}")
    return found, unread


def free_addresses(client: Client, name: str) -> dict[str, int]:
    """Free addresses of the subnets of a cluster's control plane, by ID."""
    ids = client("eks").describe_cluster(name=name)["cluster"]["resourcesVpcConfig"]["subnetIds"]
    found = client("ec2").describe_subnets(SubnetIds=ids)["Subnets"]
    return {one["SubnetId"]: one["AvailableIpAddressCount"] for one in found}


def of_stack(platform: Platform, stack: str, target: str, charts: Path | None) -> dict[str, Any]:
    """Attributes of a `World` that the program and its charts give for the target, without AWS or a cluster."""
    cluster = platform.cluster.model_copy(update={"version": target, "ami_release": None})
    recording = record_platform(platform.model_copy(update={"cluster": cluster}), stack=stack)
    inputs = [(one.type, one.inputs.plain) for one in recording if one.exists]
    uses = [(of_release("", plain), plain) for token, plain in inputs if token == RELEASE]
    definitions, rendered, unread = _of_charts(uses, target, Charts(charts))
    return {
        "planned": [*(plain for token, plain in inputs if token != RELEASE and "apiVersion" in plain), *rendered],
        "definitions": definitions,
        "releases": {use.chart: use for use, _ in uses},
        "addons": {plain["addonName"]: plain.get("addonVersion") or "" for token, plain in inputs if token == ADDON},
        "pools": resolve_all(platform),
        "unread": unread,
    }


def _of_charts(
    uses: Sequence[tuple[Use, Object]], target: str, charts: Charts
) -> tuple[list[Object], list[Object], list[str]]:
    """CRDs in folders `crds/`, what the charts render to, and the charts of which neither is known."""
    helm, definitions, rendered, unread = binary.available(), list[Object](), list[Object](), list[str]()
    for use, plain in uses:
        chart = charts.find(use.chart, use.version)
        if chart is None or helm is None:
            unread.append(f"chart {use.chart}: {'not at hand' if chart is None else 'helm is not here to render it'}")
        if chart is not None and not plain.get("skipCrds"):
            definitions += chart.crds
        if chart is not None and helm is not None:
            arguments = [use.chart, str(chart.path), "--skip-crds", "--kube-version", f"{target}.0"]
            try:
                text = binary.template(helm, [*arguments, "--namespace", str(plain["namespace"])], use.values)
                rendered += filter(None, strict_yaml.every(text))
            except SandboxError as error:
                unread.append(f"chart {use.chart}: {error}")
    return definitions, rendered, unread


def pods_of(value: Any) -> Iterator[Object]:
    """Every spec of a pod in an object, wherever it is."""
    if isinstance(value, Mapping) and isinstance(value.get("containers"), list):
        yield value
    for one in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        yield from pods_of(one)


def _versions(objects: Iterable[Object]) -> dict[str, str]:
    found: dict[str, str] = {}
    for pod in (pod for one in objects for pod in pods_of(one)):
        for container in (*pod["containers"], *(pod.get("initContainers") or ())):
            known = upgrades.recognized(str(container.get("image") or ""))
            if known and upgrades.at_least(found.get(known[0], known[1]), known[1]):
                found[known[0]] = known[1]
    return found


def _stated(use: Use, where: str) -> str:
    """Version of the software of a release: the chart's own, or that of a value."""
    value: Any = use.version if where == "version" else use.values
    for key in where.split(".") if where != "version" else ():
        value = value.get(key) if isinstance(value, Mapping) else None
    return str(value or "")

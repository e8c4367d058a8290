"""DaemonSets of add-ons and charts, rendered with the values of the stacks, on the tainted pools of the stacks.

A DaemonSet that selects the nodes of a pool and doesn't tolerate its taints has no pod there, without an error. What an
operator creates at run time is in no chart: the policy `daemonset-tolerates-pools` has a table of it.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from sandbox.kubernetes.helm.binary import available
from sandbox.kubernetes.helm.chart import Chart, Charts
from sandbox.kubernetes.helm.records import ReleaseName
from sandbox.nodes.karpenter import matches
from sandbox.nodes.machine import karpenter_labels
from spec.pools import PoolSpec, resolve_all
from tests.slipway.charts.rendering import objects_without_cluster
from tests.support import stacks

CHARTS: Final[Mapping[str, str]] = {"vpc-cni": "aws-vpc-cni"}
"""Charts of EKS add-ons that have another name."""
REPELLED: Final[Mapping[str, str]] = {
    "dcgm-server": "nothing asks it: cluster.repairGpus is false, so the agent does not watch GPUs"
}
"""DaemonSets that may be repelled, with the reason."""
APIS: Final = ("monitoring.coreos.com/v1/ServiceMonitor", "monitoring.coreos.com/v1/PodMonitor", "policy/v1")


def releases(stack: str) -> Iterator[tuple[str, ReleaseName, Mapping[str, Any]]]:
    """Chart, release and values of each Helm release and EKS add-on."""
    for each in stacks.recorded(stack).resources.values():
        inputs = each.inputs.plain
        if each.type == "kubernetes:helm.sh/v3:Release":
            name = str(inputs["chart"]).rpartition("/")[2]
            yield name, ReleaseName(str(inputs["name"]), str(inputs["namespace"])), inputs.get("values") or {}
        elif each.type == "aws:eks/addon:Addon":
            values = json.loads(inputs.get("configurationValues") or "{}")
            yield str(inputs["addonName"]), ReleaseName(str(inputs["addonName"]), "kube-system"), values


def daemonsets(folder: Path, stack: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Name and pod of each DaemonSet of the charts in a folder."""
    helm = available()
    if helm is None:
        pytest.skip("helm is not here: run `make tools`")
    for name, release, values in releases(stack):
        chart = Charts(folder).find(CHARTS.get(name, name))
        if chart is None or not complete(chart) or not any("DaemonSet" in text for text in texts(chart.path)):
            continue
        for manifest in objects_without_cluster(helm, chart, release, values, APIS):
            if manifest["kind"] == "DaemonSet":
                yield manifest["metadata"]["name"], manifest["spec"]["template"]["spec"]


def complete(chart: Chart) -> bool:
    """Whether it can be rendered: its subcharts are packed with it."""
    return chart.has_templates and all(chart.subchart(name) is not None for _, name in chart.dependencies)


def texts(path: Path) -> Iterator[str]:
    """Templates of a chart and its subcharts."""
    yield from (file.read_text(encoding="utf-8") for file in path.rglob("*") if file.suffix in (".yaml", ".tpl"))


@cache
def rendered(folder: Path, stack: str) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    return tuple(daemonsets(folder, stack))


def selects(pod: Mapping[str, Any], pool: PoolSpec) -> bool:
    """Whether its node selector and required affinity match the nodes of a pool."""
    labels = {**karpenter_labels(pool.instance_types[0]), **pool.labels}
    required = (pod.get("affinity") or {}).get("nodeAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution")
    terms = [term.get("matchExpressions") or () for term in (required or {}).get("nodeSelectorTerms", ())]
    chosen = all(labels.get(key) == value for key, value in (pod.get("nodeSelector") or {}).items())
    return chosen and (not terms or any(matches(labels, term) for term in terms))


def repelled_by(pod: Mapping[str, Any], pool: PoolSpec) -> list[str]:
    """Taints of a pool that the pod doesn't tolerate."""
    tolerations = pod.get("tolerations") or ()
    return [
        str(taint)
        for taint in pool.taints
        if taint.effect != "PreferNoSchedule" and not any(tolerated(taint.manifest, each) for each in tolerations)
    ]


def tolerated(taint: Mapping[str, str], toleration: Mapping[str, Any]) -> bool:
    """As the scheduler compares them (kubernetes.io, "Taints and Tolerations")."""
    exists = toleration.get("operator", "Equal") == "Exists"
    return (
        toleration.get("effect", taint["effect"]) in ("", None, taint["effect"])
        and ((exists and not toleration.get("key")) or toleration.get("key") == taint["key"])
        and (exists or toleration.get("value", "") == taint.get("value", ""))
    )


def repelled(folder: Path, stack: str) -> dict[str, set[str]]:
    """Pools that repel a DaemonSet which selects their nodes, by its name."""
    found: dict[str, set[str]] = {}
    for name, pod in rendered(folder, stack):
        for pool in resolve_all(stacks.platform_of(stack)).values():
            if selects(pod, pool) and repelled_by(pod, pool):
                found.setdefault(name, set()).add(pool.name)
    return found


@pytest.mark.parametrize("stack", ["dev", "prod"])
def test_daemonsets_run_on_every_pool_that_they_select(shared: Path, stack: str) -> None:
    folder = shared / "charts-full"
    names = {name for name, _ in rendered(folder, stack)}
    assert {"aws-node", "eks-node-monitoring-agent", "dcgm-server", "ebs-csi-node", "s3-csi-node"} <= names
    assert set(repelled(folder, stack)) - set(REPELLED) == set()


def test_a_daemonset_without_tolerations_is_found(shared: Path) -> None:
    """The reason of an exception is checked as well: the GPU pools do repel it."""
    assert repelled(shared / "charts-full", "prod") == {"dcgm-server": {"a100", "gpu-spot", "h100"}}

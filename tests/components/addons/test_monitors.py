"""A chart's ServiceMonitor finds a Service with the port that it names: rendering alone doesn't show it."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from sandbox.kubernetes.helm.binary import available
from sandbox.kubernetes.helm.chart import Charts
from sandbox.kubernetes.helm.preview import objects_without_cluster
from sandbox.kubernetes.helm.records import ReleaseName
from tests.components.addons.test_images import FOLDERS, NOT_RENDERED, plain, platform_uses

SERVED = ("monitoring.coreos.com/v1", "monitoring.coreos.com/v1/ServiceMonitor")


def blind(objects: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Monitors of a release that no Service of it serves, with the port that is missing."""
    objects = list(objects)
    services = [each for each in objects if each["kind"] == "Service"]
    for monitor in (each for each in objects if each["kind"] == "ServiceMonitor"):
        wanted = (monitor["spec"]["selector"].get("matchLabels") or {}).items()
        selected = [each for each in services if wanted <= (each["metadata"].get("labels") or {}).items()]
        ports = {port.get("name") for each in selected for port in each["spec"]["ports"]}
        for endpoint in monitor["spec"]["endpoints"]:
            # KubeRay's names the port of the pod, which the Service has as its target.
            targets = {port.get("targetPort") for each in selected for port in each["spec"]["ports"]}
            wanted_port = endpoint.get("port", endpoint.get("targetPort"))
            if wanted_port not in (ports if "port" in endpoint else targets):
                yield f"{monitor['metadata']['name']}: {wanted_port}"


def test_every_monitor_of_a_chart_selects_a_service_with_its_port(shared: Path, tmp_path: Path) -> None:
    helm = available()
    if helm is None:
        pytest.skip("no helm here: run `python -m sandbox.toolchain ensure helm`, or `make setup`")
    charts, found = Charts(shared / "charts-full"), dict[str, list[str]]()
    monitored = 0
    for use in platform_uses("prod", tmp_path):
        if use.chart in NOT_RENDERED:
            continue
        chart = charts.find(FOLDERS.get(use.chart, use.chart))
        assert chart, use.chart
        name = ReleaseName(use.release, "n")
        objects = objects_without_cluster(helm, chart, name, plain(use.values), SERVED)
        monitored += sum(each["kind"] == "ServiceMonitor" for each in objects)
        if wrong := list(blind(objects)):
            found[use.chart] = wrong
    assert found == {}
    assert monitored > 5


def test_a_monitor_of_another_port_is_found() -> None:
    def made(kind: str, spec: Mapping[str, Any]) -> dict[str, Any]:
        return {"kind": kind, "metadata": {"name": "m", "labels": {"app": "a"}}, "spec": spec}

    service = made("Service", {"ports": [{"name": "webhook"}, {"port": 1}]})
    monitor = made("ServiceMonitor", {"selector": {"matchLabels": {"app": "a"}}, "endpoints": [{"port": "https"}]})
    assert list(blind([service, monitor])) == ["m: https"]
    other = made("ServiceMonitor", {"selector": {"matchLabels": {"app": "b"}}, "endpoints": [{"port": "webhook"}]})
    assert list(blind([service, other])) == ["m: webhook"]
    pods = made("ServiceMonitor", {"selector": {"matchLabels": {"app": "a"}}, "endpoints": [{"targetPort": "http"}]})
    assert list(blind([service, pods])) == ["m: http"]
    named = made("Service", {"ports": [{"targetPort": "http"}]})
    assert list(blind([named, pods])) == []

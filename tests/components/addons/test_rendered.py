"""What the charts of whole stacks become: images come through the caches, the table of which is right and misses none;
a ServiceMonitor finds a Service with the port that it names."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from components.addons.images import cached, chart_values, in_manifest, prefixes
from sandbox.kubernetes.helm.binary import available
from sandbox.kubernetes.helm.chart import Charts
from sandbox.kubernetes.helm.records import ReleaseName
from slipway.charts import uses
from slipway.charts.check import without_unknowns
from spec.catalog.software import CHARTS
from spec.settings import load, read_stack
from tests.slipway.charts.rendering import Objects, objects_without_cluster
from tests.support.mocks import providers, run
from tests.support.outputs import cluster_outputs
from tests.support.stacks import FOLDER

ECR: Final = "111122223333.dkr.ecr.us-east-1.amazonaws.com/slipway-dev"
THROUGH: Final = {
    "docker.io": f"{ECR}/docker-hub",
    "ghcr.io": f"{ECR}/github",
    "public.ecr.aws": f"{ECR}/ecr-public",
    "quay.io": f"{ECR}/quay",
    "registry.k8s.io": f"{ECR}/k8s",
}
SECRET: Final = "arn:aws:secretsmanager:us-east-1:111122223333:secret:ecr-pullthroughcache/"
CACHES: Final = (
    f"caches: {{ecr-public: {{}}, k8s: {{}}, quay: {{}}, docker-hub: {{credentialsArn: {SECRET}hub-abc123}},"
    f" github: {{credentialsArn: {SECRET}gh-abc123}}}}"
)
PLACEHOLDERS: Final = {"jobset", "kueue"}
"""Charts whose source tree names a staging registry; publishing replaces it."""
SUBCHARTS: Final = ("grafana", "kube-state-metrics", "prometheus-node-exporter")
"""Charts in kube-prometheus-stack that are not in the sample: their defaults were read in prometheus-community/
helm-charts (kube-state-metrics 8.4.0, prometheus-node-exporter 4.56.1) and grafana-community/helm-charts (12.11.1)."""
FOLDERS: Final = {"kubecost": "kubecost-v3"}
NOT_RENDERED: Final = {"gateway-crds-helm", "knative-operator", "kube-prometheus-stack"}
"""Charts that the sample lacks, or has without their subcharts."""
ELSEWHERE: Final = {"dra-driver-nvidia-gpu"}  # whose chart is in no sample
NAMED: Final = re.compile(rf"\b({'|'.join(map(re.escape, THROUGH))})/([\w./-]+):[\w.-]+")


@pytest.mark.parametrize(
    ("name", "pulled"),
    [
        ("quay.io", f"{ECR}/quay"),
        ("quay.io/a/b:1@sha256:0", f"{ECR}/quay/a/b:1@sha256:0"),
        ("registry.k8s.io/lws/lws", f"{ECR}/k8s/lws/lws"),
        ("burakince/mlflow:3.15.1", f"{ECR}/docker-hub/burakince/mlflow:3.15.1"),
        ("docker.io/a/b", f"{ECR}/docker-hub/a/b"),
        ("busybox:1.37", f"{ECR}/docker-hub/library/busybox:1.37"),
        ("busybox", f"{ECR}/docker-hub/library/busybox"),
        ("nvcr.io/nvidia/gpu-operator:v1", "nvcr.io/nvidia/gpu-operator:v1"),
        ("localhost:5000/a", "localhost:5000/a"),
        (f"{ECR}/quay/a:1", f"{ECR}/quay/a:1"),
    ],
)
def test_an_image_is_pulled_through_the_cache_of_its_registry(name: str, pulled: str) -> None:
    assert cached(name, THROUGH) == pulled


def test_prefixes_are_those_of_the_caches() -> None:
    def build() -> dict[str, str]:
        return prefixes(cluster_outputs(providers()[0]), ["quay", "docker-hub"])

    registry = "111122223333.dkr.ecr.us-east-1.amazonaws.com/slipway-test"
    assert run(build).returned == {"docker.io": f"{registry}/docker-hub", "quay.io": f"{registry}/quay"}


def test_without_caches_nothing_changes() -> None:
    values = {"image": {"tag": "v1"}, "initContainers": [{"name": "a", "image": "quay.io/a:1"}]}
    assert chart_values(CHARTS["lws"], values, {}) == values


def test_own_values_stay_and_containers_of_values_and_manifests_change() -> None:
    values = {
        "image": {"manager": {"repository": "own/lws"}},
        "initContainers": [{"name": "a", "image": "quay.io/a:1"}],
    }
    made = chart_values(CHARTS["lws"], values, THROUGH)
    assert made["image"] == {"manager": {"repository": "own/lws"}}
    assert made["initContainers"][0]["image"] == f"{ECR}/quay/a:1"
    manifest = {"spec": {"containers": [{"name": "c", "image": "public.ecr.aws/x/y:1"}], "image": "quay.io/no/pod"}}
    assert in_manifest(manifest, THROUGH)["spec"] == {
        "containers": [{"name": "c", "image": f"{ECR}/ecr-public/x/y:1"}],
        "image": "quay.io/no/pod",
    }


@pytest.mark.parametrize("chart", [row.name for row in CHARTS.values() if row.images and row.name not in ELSEWHERE])
def test_the_table_has_the_defaults_of_the_charts(chart: str, shared: Path) -> None:
    folder = shared / "charts-full" / FOLDERS.get(chart, chart)
    defaults = yaml.load((folder / "values.yaml").read_text(), yaml.CSafeLoader)
    for path, default in CHARTS[chart].images.items():
        first, *rest = path.split(".")
        if chart == "gpu-operator" and first == "node-feature-discovery":
            text = (folder / "charts" / first / "values.yaml").read_text()
            at: Any = yaml.load(text, yaml.CSafeLoader)
        elif first in SUBCHARTS:
            continue
        else:
            at = defaults[first]
        for key in rest:
            at = at[key]
        if chart not in PLACEHOLDERS:
            assert at == default, path


def platform_uses(stack: str, folder: Path) -> list[uses.Use]:
    text = (FOLDER / f"Pulumi.{stack}.yaml").read_text(encoding="utf-8")
    account = re.search(r'id: "(\d{12})"', text)
    assert account
    registry = f"registry: {{repositories: [training, serving], {CACHES.replace('111122223333', account[1])}}}"
    changed = re.sub(r"registry: \{.*\}", registry, text)
    assert changed != text
    (folder / f"Pulumi.{stack}.yaml").write_text(changed, encoding="utf-8")
    return uses.of_platform(load(read_stack(stack, folder), stack=stack).platform, stack)


def images(at: Any) -> Iterator[str]:
    """Images of containers, and whatever looks like an image of a cached registry, in arguments and settings."""
    if isinstance(at, Mapping):
        for key, value in at.items():
            if key in ("containers", "initContainers") and isinstance(value, list):
                yield from (each["image"] for each in value)
            yield from images(value)
    elif isinstance(at, list):
        for value in at:
            yield from images(value)
    elif isinstance(at, str):
        yield from (match[0] for match in NAMED.finditer(at))


def charts_of(stack: str, shared: Path, folder: Path, apis: Sequence[str] = ()) -> Iterator[tuple[str, Objects]]:
    """Charts of a stack with the objects of a release."""
    helm = available()
    if helm is None:
        pytest.skip("no helm here: run `python -m sandbox.toolchain ensure helm`, or `make setup`")
    charts = Charts(shared / "charts-full")
    for use in platform_uses(stack, folder):
        if use.chart not in NOT_RENDERED:
            chart = charts.find(FOLDERS.get(use.chart, use.chart))
            assert chart, use.chart
            name = ReleaseName(use.release, "n")
            yield use.chart, objects_without_cluster(helm, chart, name, without_unknowns(use.values), apis)


@pytest.mark.parametrize("stack", ["dev", "prod"])
def test_no_image_of_a_cached_registry_is_pulled_directly(stack: str, shared: Path, tmp_path: Path) -> None:
    direct: dict[str, set[str]] = {}
    for chart, objects in charts_of(stack, shared, tmp_path):
        made = [each for each in objects if each["kind"] != "CustomResourceDefinition"]
        direct.setdefault(chart, set()).update(image for image in images(made) if cached(image, THROUGH) != image)
    assert {chart: found for chart, found in direct.items() if found} == {}
    assert {"kueue", "karpenter", "cert-manager", "kserve-resources", "mlflow"} <= set(direct)


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
    """Rendering alone doesn't show it."""
    found, monitored = dict[str, list[str]](), 0
    for chart, objects in charts_of("prod", shared, tmp_path, SERVED):
        monitored += sum(each["kind"] == "ServiceMonitor" for each in objects)
        if wrong := list(blind(objects)):
            found[chart] = wrong
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

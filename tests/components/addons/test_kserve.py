"""KServe's releases and values."""

import re
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from components.addons.kserve import Kserve
from components.addons.kserve.addon import gateway, load_balancer, manifests, replicated, values
from components.addons.kserve.runtimes import SERVERS, places, runtimes
from spec.catalog.software import CHARTS
from spec.pools import PoolSpec, resolve_all
from spec.pools.allocatable import allocatable
from spec.pools.pool_spec import Toleration
from spec.quantities import parse
from spec.settings.addons.serving import Kserve as Settings
from spec.settings.addons.serving import Server
from tests.components.pools.samples import platform
from tests.support.context import POOLS, seen_parts
from tests.support.structural import complaints, definition, schema

ARN = "arn:aws:acm:us-east-1:111122223333:certificate/12345678-1234-1234-1234-123456789012"
OTHER = "arn:aws:acm:us-east-1:111122223333:certificate/87654321-1234-1234-1234-123456789012"
SECURE = Settings(ingressDomain="models.example.com", https=True, certificateArn=(ARN,))
PLACEMENT = {"nodeSelector": {"x": "y"}, "tolerations": []}


def gateway_values(**settings: Any) -> dict[str, Any]:
    chart_values = values(Settings(**settings), region="us-east-1", placement=PLACEMENT)
    gateway: dict[str, Any] = chart_values["kserve"]["controller"]["gateway"]
    return gateway


def test_crds_come_first_with_the_controllers_version() -> None:
    parts = seen_parts(lambda: Kserve(Settings())).parts
    assert [chart.ref for chart in parts.releases] == [CHARTS["kserve-crd"], CHARTS["kserve-resources"]]
    assert CHARTS["kserve-crd"].version == CHARTS["kserve-resources"].version


def test_the_gateway_listens_for_the_domain_of_models() -> None:
    (plain,) = gateway(Settings(ingressDomain="models.example.com"))["spec"]["listeners"]
    assert (plain["hostname"], plain["port"], plain["protocol"]) == ("*.models.example.com", 80, "HTTP")
    (secure,) = gateway(SECURE)["spec"]["listeners"]
    assert (secure["port"], secure["protocol"]) == (443, "HTTPS")
    assert gateway_values(https=True)["urlScheme"] == "https"


def test_kserves_ingresses_share_one_load_balancer_with_the_certificate() -> None:
    objects = seen_parts(lambda: Kserve(SECURE)).objects
    params = objects["ingress-params"]
    assert gateway_values()["ingressGateway"]["className"] == objects["ingress-class"]["metadata"]["name"]
    reference = objects["ingress-class"]["spec"]["parameters"]
    assert (reference["kind"], reference["name"]) == (params["kind"], params["metadata"]["name"])
    # The controller listens on 443, and only there, if the class has a certificate and the Ingress no listen-ports.
    assert params["spec"]["certificateArn"] == [ARN]
    assert params["spec"]["group"] == {"name": "models"}
    plain = seen_parts(lambda: Kserve(Settings(scheme="internet-facing"))).objects["ingress-params"]["spec"]
    assert plain == {"group": {"name": "models"}, "scheme": "internet-facing"}


def test_the_load_balancer_of_the_gateway_has_the_certificates() -> None:
    both = Settings(ingress="gateway", https=True, certificateArn=(ARN, OTHER))
    (listener,) = load_balancer(both)["spec"]["listenerConfigurations"]
    assert (listener["protocolPort"], listener["defaultCertificate"]) == ("HTTPS:443", ARN)
    assert listener["certificates"] == [OTHER]
    assert "listenerConfigurations" not in load_balancer(Settings(ingress="gateway"))["spec"]


@pytest.mark.parametrize("ingress", ["alb", "gateway"])
def test_objects_of_the_ingress_satisfy_the_crds_of_its_controller(shared: Path, ingress: Any) -> None:
    settings = Settings(ingress=ingress, https=True, certificateArn=(ARN, OTHER))
    folder = shared / "charts-full/aws-load-balancer-controller/crds"
    checked = 0
    for manifest in manifests(settings).values():
        group, _, version = manifest["apiVersion"].partition("/")
        file = {"elbv2.k8s.aws": "crds.yaml", "gateway.k8s.aws": "gateway-crds.yaml"}.get(group)
        if file:
            checked += 1
            assert list(complaints(manifest, schema(definition(folder / file, manifest["kind"]), version))) == []
    assert checked


def test_the_chart_has_the_deployment_that_is_replicated_and_no_replicas_of_its_own(shared: Path) -> None:
    text = (shared / "charts-full/kserve-resources/files/kserve/resources.yaml").read_text()
    (deployment,) = (each for each in yaml.load_all(text, yaml.CSafeLoader) if each and each["kind"] == "Deployment")
    objects = replicated(2)
    assert deployment["metadata"]["name"] == objects["replicas"]["spec"]["scaleTargetRef"]["name"]
    selected = objects["budget"]["spec"]["selector"]["matchLabels"]
    assert selected.items() <= deployment["spec"]["template"]["metadata"]["labels"].items()
    assert "replicas" not in deployment["spec"]
    assert "--leader-elect" in deployment["spec"]["template"]["spec"]["containers"][0]["args"]


POOL = "platform.slipway/pool"


def resolved(pools: Mapping[str, Mapping[str, Any]] = POOLS) -> dict[str, PoolSpec]:
    return resolve_all(platform(pools))


def runtimes_of(*servers: str) -> dict[str, dict[str, Any]]:
    return runtimes(resolved(), servers or tuple(SERVERS))


def container(runtime: Mapping[str, Any]) -> dict[str, Any]:
    (first,) = runtime["spec"]["containers"]
    return dict(first)


def test_every_server_of_the_settings_is_known() -> None:
    assert set(SERVERS) == set(get_args(Server))


def test_a_server_has_a_runtime_for_cpus_and_for_each_serving_pool() -> None:
    assert set(runtimes_of("triton")) == {"triton", "triton-a100-1g.5gb", "triton-gpu-spot"}
    assert set(runtimes_of("vllm")) == {"vllm-a100-1g.5gb", "vllm-gpu-spot"}


def test_training_pools_have_no_runtime() -> None:
    assert "h100" not in {place.spec.name for place in places(resolved())}


def test_a_pool_with_several_mig_profiles_has_a_runtime_for_each() -> None:
    pools = {"a100": {"preset": "a100", "role": "inference", "mig": {"layout": "all-balanced"}}}
    by_name = {place.suffix: place.resource for place in places(resolved(pools))}
    assert by_name == {
        "a100-1g.5gb": "nvidia.com/mig-1g.5gb",
        "a100-2g.10gb": "nvidia.com/mig-2g.10gb",
        "a100-3g.20gb": "nvidia.com/mig-3g.20gb",
    }


WHOLE = {"big": {"preset": "a100", "role": "inference"}}
SIZED: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "one GPU": {"gpus": {"preset": "gpu-spot"}},
    "eight GPUs": WHOLE,
    "shared": {"gpus": {"preset": "gpu-spot", "sharing": {"mode": "time-slicing", "replicas": 4}}},
    "equal instances": {"a100": {"preset": "a100", "role": "inference", "mig": {"layout": "all-2g.10gb"}}},
    "different instances": {"a100": {"preset": "a100", "role": "inference", "mig": {"layout": "all-balanced"}}},
}


@pytest.mark.parametrize("pools", SIZED.values(), ids=SIZED)
def test_as_many_pods_fit_on_the_smallest_node_as_it_has_gpus(pools: Mapping[str, Mapping[str, Any]]) -> None:
    (spec,) = (each for each in resolved(pools).values() if each.gpu)
    node = min(allocatable(spec), key=lambda each: each.memory_mib)
    used = {"cpu": Decimal(0), "memory": Decimal(0)}
    for place in places({spec.name: spec}):
        if place.count == 1:
            requests = place.resources()["requests"]
            used = {name: used[name] + parse(requests[name]) * spec.resources[place.resource] for name in used}
    offered = {"cpu": Decimal(node.cpu_millis) / 1000, "memory": Decimal(node.memory_mib * 2**20)}
    # All of them together use most of the node: nothing that is paid for stays unused, and nothing stays pending.
    assert all(offered[name] * Decimal("0.7") < used[name] <= offered[name] for name in used)


def test_a_larger_instance_gets_more_of_the_node() -> None:
    by_profile = {place.suffix: place.resources() for place in places(resolved(SIZED["different instances"]))}
    memory = [parse(each["limits"]["memory"]) for each in by_profile.values()]
    assert memory == sorted(memory)
    assert memory[0] < memory[-1]


def test_a_model_may_use_several_gpus_of_a_node_with_servers_that_can() -> None:
    made = runtimes(resolved(WHOLE), ("vllm", "tensorflow"))
    assert {"vllm-big", "vllm-big-x2", "vllm-big-x4", "vllm-big-x8"} <= set(made)
    assert {name for name in made if name.startswith("tensorflow-")} == {"tensorflow-big"}
    one, four = container(made["vllm-big"]), container(made["vllm-big-x4"])
    assert four["resources"]["limits"]["nvidia.com/gpu"] == "4"
    assert (one["args"], "--tensor-parallel-size=4") == (four["args"][:-1], four["args"][-1])
    half, quarter = (parse(made[name]["spec"]["containers"][0]["resources"]["requests"]["memory"]) for name in (
        "vllm-big-x4", "vllm-big-x2"
    ))  # fmt: skip
    assert half >= 2 * quarter


def test_servers_of_a_shared_gpu_leave_memory_to_each_other() -> None:
    alone = runtimes(resolved(SIZED["one GPU"]), ("vllm", "triton"))
    shared = runtimes(resolved(SIZED["shared"]), ("vllm", "triton"))
    argument = "--gpu-memory-utilization=0.22"
    assert container(shared["vllm-gpus"])["args"] == [*container(alone["vllm-gpus"])["args"], argument]
    # It takes what its models need.
    assert container(shared["triton-gpus"])["args"] == container(alone["triton-gpus"])["args"]


def test_a_runtime_is_ready_when_its_model_is_loaded() -> None:
    for name, runtime in runtimes_of().items():
        probe = container(runtime)["readinessProbe"]["httpGet"]
        assert probe == {"path": SERVERS[name.partition("-")[0]].health, "port": 8080}


@pytest.mark.parametrize("name", [name for name in runtimes_of() if "-" in name])
def test_a_gpu_runtime_requests_one_device_and_tolerates_its_pools_taints(name: str) -> None:
    runtime, pools = runtimes_of()[name], resolved()
    spec = pools[runtime["spec"]["nodeSelector"][POOL]]
    tolerations = {Toleration(each["key"], each["value"], each["effect"]) for each in runtime["spec"]["tolerations"]}
    assert all(any(one.tolerates(taint) for one in tolerations) for taint in spec.taints)
    resources = container(runtime)["resources"]
    gpus = {key: count for key, count in resources["limits"].items() if key.startswith("nvidia.com/")}
    assert list(gpus.values()) == ["1"]
    assert set(gpus) <= set(spec.resources)
    assert all(resources["requests"][key] == count for key, count in gpus.items())


def test_gpu_runtimes_are_not_selected_automatically() -> None:
    for name, runtime in runtimes_of().items():
        chosen = [each["autoSelect"] for each in runtime["spec"]["supportedModelFormats"]]
        assert all(chosen) == ("nodeSelector" not in runtime["spec"]), name
        assert any(chosen) == all(chosen), name


def test_at_most_one_runtime_per_format_is_selected_automatically() -> None:
    formats = [
        (each["name"], each["version"])
        for runtime in runtimes_of().values()
        for each in runtime["spec"]["supportedModelFormats"]
        if each["autoSelect"]
    ]
    assert len(formats) == len(set(formats))


@pytest.mark.parametrize("name", SERVERS)
def test_images_are_pinned_and_run_without_root(name: str) -> None:
    server = SERVERS[name]
    for image in filter(None, (server.cpu, server.gpu)):
        assert re.search(r":v?\d[\w.-]*$", image), image
        security = server.container(image, {})["securityContext"]
        assert security["runAsNonRoot"] is True
        assert security["capabilities"] == {"drop": ["ALL"]}
    assert server.source


def test_every_runtime_has_a_memory_request_and_limit() -> None:
    for runtime in runtimes_of().values():
        resources = container(runtime)["resources"]
        assert resources["limits"]["memory"] == resources["requests"]["memory"]


@pytest.mark.parametrize("name", runtimes_of())
def test_every_runtime_satisfies_the_crd(shared: Path, name: str) -> None:
    file = shared / "charts/kserve-crd/crds/clusterservingruntimes.serving.kserve.io.yaml"
    expected = schema(definition(file, "ClusterServingRuntime"), "v1alpha1")
    assert list(complaints(runtimes_of()[name], expected)) == []

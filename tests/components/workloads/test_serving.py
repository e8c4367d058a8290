"""Model servers: startup, autoscaling, rollouts, and canaries."""

import json
from dataclasses import replace

import pytest

from components.addons.kserve.runtimes import TRITON_ERRORS
from components.base.canaries import ROLLBACK, VERSION
from components.composition.canary_rollback import rollback_of
from components.workloads import VLLM_ERRORS, Canary, Pod, Resources, model_deployment, model_server
from tests.components.workloads.samples import DEPLOYMENT, GOOD, NAMED, SERVER, SLICE, SPOT, bodies, body

BEHAVIOUR = {
    "scaleUp": [{"type": "Pods", "value": 2, "periodSeconds": 30}],
    "scaleDown": [{"type": "Pods", "value": 1, "periodSeconds": 120}],
}


def test_replicas_go_up_by_two_in_30_s_and_down_by_one_in_120_s_after_five_minutes() -> None:
    spec = body(model_deployment("chat", DEPLOYMENT), "autoscaler")["spec"]
    behavior = spec["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]
    assert {way: rules["policies"] for way, rules in behavior.items()} == BEHAVIOUR
    assert behavior["scaleDown"]["stabilizationWindowSeconds"] == 300
    assert (spec["minReplicaCount"], spec["maxReplicaCount"]) == (2, 20)


def test_they_scale_by_gpu_utilization_and_waiting_requests() -> None:
    gpu, waiting = body(GOOD["deployment"](), "autoscaler")["spec"]["triggers"]
    assert (gpu["metadata"]["threshold"], waiting["metadata"]["threshold"]) == ("70", "5")
    assert waiting["metadata"]["query"].startswith("sum(vllm:num_requests_waiting")


def test_the_metric_of_a_mig_instance_differs_from_that_of_a_gpu() -> None:
    sliced = body(model_deployment("chat", DEPLOYMENT), "autoscaler")["spec"]["triggers"][0]["metadata"]["query"]
    whole = replace(DEPLOYMENT, pod=SPOT, autoscaling=replace(DEPLOYMENT.autoscaling, max_replicas=4))
    query = body(model_deployment("chat", whole), "autoscaler")["spec"]["triggers"][0]["metadata"]["query"]
    assert sliced.startswith("100 * sum(avg by (pod) (DCGM_FI_PROF_GR_ENGINE_ACTIVE{")
    assert query.startswith("sum(avg by (pod) (DCGM_FI_DEV_GPU_UTIL{")


def test_only_the_autoscaler_sets_the_number_of_replicas() -> None:
    assert "replicas" not in body(GOOD["deployment"](), "deployment")["spec"]


def test_the_model_is_downloaded_before_the_server_starts() -> None:
    spec = body(GOOD["deployment"](), "deployment")["spec"]["template"]["spec"]
    (fetch,) = spec["initContainers"]
    assert fetch["args"][-2:] == ["s3://models/research/m", "/models"]
    (server,) = spec["containers"]
    assert "/models" in {each["mountPath"] for each in server["volumeMounts"]}
    assert fetch["securityContext"] == server["securityContext"]


def test_loading_may_take_long_but_a_hang_is_detected_within_a_minute() -> None:
    (server,) = body(GOOD["deployment"](), "deployment")["spec"]["template"]["spec"]["containers"]
    startup, live = server["startupProbe"], server["livenessProbe"]
    assert startup["failureThreshold"] * startup["periodSeconds"] == DEPLOYMENT.load_seconds
    assert live["failureThreshold"] * live["periodSeconds"] <= 60
    assert "initialDelaySeconds" not in live
    assert server["readinessProbe"]["periodSeconds"] < live["periodSeconds"]


def test_pulumi_awaits_the_node_and_the_loading_of_the_model() -> None:
    manifest = model_deployment("chat", DEPLOYMENT)["deployment"]
    assert manifest.timeout_seconds is not None
    assert manifest.timeout_seconds > DEPLOYMENT.load_seconds
    assert manifest.manifest["spec"]["progressDeadlineSeconds"] == manifest.timeout_seconds
    assert "annotations" not in manifest.manifest["metadata"]


def test_a_server_stops_after_its_removal_from_the_service() -> None:
    spec = body(GOOD["deployment"](), "deployment")["spec"]["template"]["spec"]
    sleep = spec["containers"][0]["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert 0 < sleep < spec["terminationGracePeriodSeconds"]


def test_a_drain_evicts_one_pod_at_a_time_and_is_not_blocked_by_unhealthy_pods() -> None:
    spec = body(GOOD["deployment"](), "budget")["spec"]
    assert spec["maxUnavailable"] == 1
    assert spec["unhealthyPodEvictionPolicy"] == "AlwaysAllow"
    assert "minAvailable" not in spec


def test_service_budget_and_monitor_select_the_same_pods() -> None:
    manifests = bodies(GOOD["deployment"]())
    labels = manifests["deployment"]["spec"]["template"]["metadata"]["labels"]
    assert labels["platform.slipway/serving"] == "true"
    selectors = [
        manifests["deployment"]["spec"]["selector"]["matchLabels"],
        manifests["budget"]["spec"]["selector"]["matchLabels"],
        manifests["metrics"]["spec"]["selector"]["matchLabels"],
        manifests["service"]["spec"]["selector"],
    ]
    assert all(selector.items() <= labels.items() for selector in selectors)


def test_a_picker_stands_between_the_service_and_the_replicas_that_it_asks() -> None:
    manifests = bodies(GOOD["deployment-picker"]())
    labels = {role: manifests[role]["spec"]["template"]["metadata"]["labels"] for role in ("deployment", "picker")}
    for role in ("service", "picker-budget", "picker-metrics"):
        selector = manifests[role]["spec"]["selector"]
        chosen = selector.get("matchLabels", selector)
        assert chosen.items() <= labels["picker"].items(), role
        assert not chosen.items() <= labels["deployment"].items(), role
    proxy, picker = manifests["picker"]["spec"]["template"]["spec"]["containers"]
    flags = dict(each.removeprefix("--").split("=", 1) for each in picker["args"])
    key, value = flags["endpoint-selector"].split("=")
    assert labels["deployment"][key] == value != labels["picker"][key]
    (port,) = manifests["service"]["spec"]["ports"]
    assert port["targetPort"] == proxy["ports"][0]["name"]
    assert proxy["ports"][0]["containerPort"] == int(flags["endpoint-target-ports"]) == DEPLOYMENT.port
    assert (flags["pool-namespace"], flags["model-server-metrics-port"]) == ("research", "8081")


def test_a_picker_and_its_proxy_speak_of_the_same_ports_and_end_together() -> None:
    spec = body(GOOD["deployment-picker"](), "picker")["spec"]["template"]["spec"]
    proxy, picker = spec["containers"]
    configuration = json.loads(proxy["args"][proxy["args"].index("--config-yaml") + 1])["static_resources"]
    (asked,) = (each for each in configuration["clusters"] if each["name"] == "picker")
    (endpoint,) = asked["load_assignment"]["endpoints"][0]["lb_endpoints"]
    assert f"--grpc-port={endpoint['endpoint']['address']['socket_address']['port_value']}" in picker["args"]
    heard = [each["address"]["socket_address"]["port_value"] for each in configuration["listeners"]]
    (others,) = (each for each in configuration["clusters"] if each["name"] == "replicas")
    address = others["load_assignment"]["endpoints"][0]["lb_endpoints"][0]["endpoint"]["address"]["socket_address"]
    service = body(GOOD["deployment-picker"](), "replicas")
    assert address["address"].startswith(f"{service['metadata']['name']}.research.svc.")
    assert address["port_value"] == service["spec"]["ports"][0]["port"]
    assert service["spec"]["selector"] == {"app.kubernetes.io/name": "chat"}
    assert heard == [proxy["ports"][0]["containerPort"], proxy["readinessProbe"]["httpGet"]["port"]]
    assert f"--grpc-health-port={picker['livenessProbe']['grpc']['port']}" in picker["args"]
    assert proxy["lifecycle"] == picker["lifecycle"]
    assert proxy["lifecycle"]["preStop"]["sleep"]["seconds"] < spec["terminationGracePeriodSeconds"]


def test_a_picker_has_a_token_of_its_own_account_and_the_model_none() -> None:
    manifests = bodies(GOOD["deployment-picker"]())
    accounts = {
        role: (spec["serviceAccountName"], spec["automountServiceAccountToken"])
        for role in ("picker", "deployment")
        for spec in [manifests[role]["spec"]["template"]["spec"]]
    }
    assert accounts == {"picker": ("endpoint-picker", True), "deployment": ("workload", False)}


def test_a_canary_gets_its_percentage_and_the_stable_version_the_rest() -> None:
    manifests = bodies(model_server("chat", SERVER))
    steps = manifests["split"]["spec"]["nodes"]["root"]["steps"]
    assert {each["serviceName"]: each["weight"] for each in steps} == {"chat": 90, "chat-canary": 10}
    stable, canary = (manifests[role]["spec"]["predictor"]["model"] for role in ("service", "canary"))
    assert stable["runtime"] == canary["runtime"] == manifests["runtime"]["metadata"]["name"]
    assert stable["storageUri"] != canary["storageUri"]


@pytest.mark.parametrize("runtime", ["vllm-slices-2g.10gb", replace(SLICE, args=("--served-model-name={{.Name}}",))])
def test_both_versions_get_requests_at_one_path_and_call_the_model_by_one_name(runtime: str | Pod) -> None:
    """KServe's own path is `/v1/models/chat-canary:predict`, which vLLM doesn't have."""
    args = replace(NAMED, runtime=runtime, autoscaling=None, path="/v1/chat/completions")
    manifests = bodies(model_server("chat", args))
    steps = manifests["split"]["spec"]["nodes"]["root"]["steps"]
    assert [each["serviceUrl"] for each in steps] == [
        "http://chat-predictor.research.svc.cluster.local/v1/chat/completions",
        "http://chat-canary-predictor.research.svc.cluster.local/v1/chat/completions",
    ]
    assert not any("serviceName" in each for each in steps)
    models = [manifests[role]["spec"]["predictor"]["model"].get("args") for role in ("service", "canary")]
    assert models == [None, ["--served-model-name=chat"]]


def test_a_canary_with_a_limit_says_by_what_it_is_rolled_back() -> None:
    canary = Canary(storage_uri="s3://models/research/v2", percent=10, max_error_percent=2.5)
    for runtime, errors in (("triton-spot", TRITON_ERRORS), ("vllm-slices-2g.10gb", VLLM_ERRORS)):
        manifests = bodies(model_server("chat", replace(NAMED, runtime=runtime, canary=canary, autoscaling=None)))
        notes = {role: one["metadata"]["annotations"] for role, one in manifests.items()}
        rollback = rollback_of(notes["split"][ROLLBACK])
        assert (rollback.service, rollback.max_error_percent) == (manifests["canary"]["metadata"]["name"], 2.5)
        assert (tuple(rollback.failed), tuple(rollback.answered)) == (errors.failed, errors.answered)
        assert notes["canary"][VERSION] == rollback.version == canary.storage_uri
        assert VERSION not in notes["service"]
    unwatched = body(model_server("chat", SERVER), "split")["metadata"]["annotations"]
    assert ROLLBACK not in unwatched
    # The program changes weights that a rollback changed before it was removed from the program, too.
    assert unwatched["pulumi.com/patchForce"] == "true"


def test_the_splitting_address_is_kept_without_a_canary() -> None:
    manifests = bodies(model_server("chat", replace(SERVER, canary=None, split=True)))
    (step,) = manifests["split"]["spec"]["nodes"]["root"]["steps"]
    assert (step["serviceName"], step["weight"]) == ("chat", 100)
    assert manifests["split"]["metadata"] == body(model_server("chat", SERVER), "split")["metadata"]


def test_with_knative_one_service_splits_between_its_revisions() -> None:
    manifests = bodies(model_server("chat", replace(SERVER, mode="Knative")))
    assert set(manifests) == {"runtime", "service"}
    predictor = manifests["service"]["spec"]["predictor"]
    assert predictor["canaryTrafficPercent"] == 10
    assert predictor["model"]["storageUri"].endswith("/v2")


def test_nothing_scales_by_cpu() -> None:
    fixed = body(model_server("chat", SERVER), "service")
    assert fixed["metadata"]["annotations"]["serving.kserve.io/autoscalerClass"] == "none"
    scaled = body(GOOD["model-server-scaled"](), "service")
    assert scaled["metadata"]["annotations"]["serving.kserve.io/autoscalerClass"] == "keda"
    metrics = scaled["spec"]["predictor"]["autoScaling"]["metrics"]
    assert {each["type"] for each in metrics} == {"External"}


@pytest.mark.parametrize("name", ["model-server-scaled", "model-server-named-scaled"])
def test_kserve_reads_the_target_of_a_metric_from_its_value(name: str) -> None:
    """KServe 0.20 refuses an external metric without `value`, and hands only that to KEDA as threshold."""
    metrics = body(GOOD[name](), "service")["spec"]["predictor"]["autoScaling"]["metrics"]
    assert [each["external"]["target"] for each in metrics] == [
        {"type": "Value", "value": "70"}, {"type": "Value", "value": "5"}
    ]  # fmt: skip


def test_a_named_runtime_scales_by_the_metrics_of_its_server_and_its_gpus() -> None:
    triton = replace(NAMED, runtime="triton-spot", canary=None)
    metrics = body(model_server("chat", triton), "service")["spec"]["predictor"]["autoScaling"]["metrics"]
    gpu, waiting = (each["external"]["metric"]["query"] for each in metrics)
    assert "DCGM_FI_DEV_GPU_UTIL" in gpu
    assert "nv_inference_pending_request_count" in waiting
    sliced = body(model_server("chat", NAMED), "service")["spec"]["predictor"]["autoScaling"]["metrics"]
    assert "DCGM_FI_PROF_GR_ENGINE_ACTIVE" in sliced[0]["external"]["metric"]["query"]


@pytest.mark.parametrize(
    ("runtime", "path"),
    [(SLICE, "/health"), ("triton-spot", "/v2/health/ready"), ("tensorflow-spot", "/v1/models/chat")],
)
def test_a_load_balancer_asks_the_path_on_which_the_server_says_that_it_is_ready(runtime: Pod | str, path: str) -> None:
    args = replace(NAMED, runtime=runtime, canary=None, autoscaling=None)
    notes = body(model_server("chat", args), "service")["metadata"]["annotations"]
    assert notes["alb.ingress.kubernetes.io/healthcheck-path"] == path


def test_a_canary_scales_to_its_percentage_of_the_replicas() -> None:
    canary = Canary(storage_uri="s3://models/research/v2", percent=30, replicas=2)
    predictor = body(model_server("chat", replace(NAMED, canary=canary)), "canary")["spec"]["predictor"]
    assert (predictor["minReplicas"], predictor["maxReplicas"]) == (2, 3)
    assert 'pod=~"chat-canary-predictor-' in str(predictor["autoScaling"])
    fixed = body(model_server("chat", SERVER), "canary")["spec"]["predictor"]
    assert (fixed["minReplicas"], fixed["maxReplicas"], "autoScaling" in fixed) == (1, 1, False)


@pytest.mark.parametrize("runtime", [SLICE, "vllm-slices-2g.10gb", "triton"])
def test_both_versions_may_be_images_that_nodes_keep(runtime: Pod | str) -> None:
    uris = [f"oci+native://111122223333.dkr.ecr.us-east-1.amazonaws.com/prod/chat:{each}" for each in ("1.0", "1.1")]
    canary = Canary(storage_uri=uris[1], percent=10)
    args = replace(NAMED, runtime=runtime, autoscaling=None, storage_uri=uris[0], canary=canary)
    found = bodies(model_server("chat", args))
    assert [found[role]["spec"]["predictor"]["model"]["storageUri"] for role in ("service", "canary")] == uris


def test_a_mig_instance_is_requested_in_the_runtimes_container() -> None:
    runtime = body(model_server("chat", SERVER), "runtime")["spec"]
    assert runtime["containers"][0]["resources"]["limits"]["nvidia.com/mig-2g.10gb"] == "1"
    assert runtime["nodeSelector"] == {"platform.slipway/pool": "slices"}


def test_a_runtime_of_the_platform_is_referenced_and_not_declared() -> None:
    manifests = bodies(GOOD["model-server-named"]())
    assert set(manifests) == {"service"}
    assert manifests["service"]["spec"]["predictor"]["model"]["runtime"] == "vllm-slices-2g.10gb"


def test_a_share_of_a_gpu_can_serve() -> None:
    shared = replace(SLICE, pools=("shared",), resources=Resources(cpu="3", memory="12Gi", gpus=1))
    manifests = bodies(model_server("chat", replace(SERVER, runtime=shared, canary=None)))
    assert manifests["runtime"]["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == "1"

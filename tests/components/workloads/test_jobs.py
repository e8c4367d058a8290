"""Manifests of jobs, sweeps and notebooks."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from components.addons.kueue import ALWAYS, FRAMEWORKS, frameworks
from components.workloads import (
    Staged,
    Step,
    Target,
    TrainingJobArgs,
    WorkloadRefused,
    distributed_training,
    grid,
    notebook,
    pipeline,
    sweep,
    training_job,
)
from components.workloads.notebook import command
from infra import target as targets
from spec.jobs import DAY, LONGEST
from spec.settings.addons import Addons
from spec.settings.presets import PRESETS
from tests.components.pools.samples import platform
from tests.components.workloads.samples import (
    CPU,
    DISTRIBUTED,
    GOOD,
    NODE,
    NOTEBOOK,
    PIPELINE,
    SHARE,
    SPOT,
    STAGED,
    SWEEP,
    TARGET,
    TRAINING,
    bodies,
    body,
)


def test_what_is_staged_is_on_the_nodes_disk_before_the_job_starts_and_costs_no_more_resources() -> None:
    spec = body(GOOD["staged"]())["spec"]["template"]["spec"]
    (stage,), (train,) = spec["initContainers"], spec["containers"]
    assert stage["args"][-2:] == ["s3://raw/research/images", "/data"]
    mounts = [{each["name"]: each["mountPath"] for each in one["volumeMounts"]} for one in (stage, train)]
    assert {mount["images"] for mount in mounts} == {"/data"}
    (volume,) = (each for each in spec["volumes"] if each["name"] == "images")
    assert volume["emptyDir"] == {"sizeLimit": "80Gi"}
    requested = [one["resources"]["requests"] for one in (stage, train)]
    assert requested[0] == {"cpu": requested[1]["cpu"], "memory": requested[1]["memory"]}
    assert stage["securityContext"] == train["securityContext"]


def test_a_registered_model_is_staged_by_mlflows_own_client() -> None:
    """`mlflow artifacts download` puts the model's files directly into the folder (mlflow 3.17.2, tried 2026-11-27)."""
    volumes = {**STAGED.volumes, "model": Staged(uri="models:/ranker@champion", path="/model", size="20Gi")}
    env = {"MLFLOW_TRACKING_URI": "http://mlflow-research.mlflow"}
    args = replace(TRAINING, pod=replace(STAGED, volumes=volumes), target=replace(TARGET, env=env))
    spec = body(training_job("mnist", args))["spec"]["template"]["spec"]
    objects, model = spec["initContainers"]
    assert (objects["command"], model["command"]) == (["aws"], ["python"])
    assert model["args"] == [
        "-m",
        "mlflow",
        "artifacts",
        "download",
        "--artifact-uri",
        "models:/ranker@champion",
        "--dst-path=/model",
    ]
    assert {"name": "MLFLOW_TRACKING_URI", "value": env["MLFLOW_TRACKING_URI"]} in model["env"]


def test_workers_stage_and_their_launcher_does_not() -> None:
    specs = body(GOOD["mpi-job-staged"]())["spec"]["mpiReplicaSpecs"]
    staged = {role: "initContainers" in each["template"]["spec"] for role, each in specs.items()}
    assert staged == {"Launcher": False, "Worker": True}
    names = {each["name"] for each in specs["Launcher"]["template"]["spec"]["volumes"]}
    assert "images" not in names


def test_a_job_is_queued_with_its_priority() -> None:
    job = body(GOOD["training-job"]())
    assert job["spec"]["suspend"] is True
    assert job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "default"
    assert job["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] == "experiment"
    assert job["spec"]["template"]["spec"]["priorityClassName"] == "experiment"


def test_pulumi_does_not_await_a_queued_job() -> None:
    for name in ("training-job", "sweep", "train-job", "pytorch-job", "notebook"):
        last = list(bodies(GOOD[name]()).values())[-1]
        assert last["metadata"]["annotations"]["pulumi.com/skipAwait"] == "true"


def test_a_pod_selects_its_pool_and_tolerates_its_taints() -> None:
    spec = body(GOOD["training-job"]())["spec"]["template"]["spec"]
    assert spec["nodeSelector"] == {"platform.slipway/pool": "spot"}
    assert {each["key"] for each in spec["tolerations"]} == {"nvidia.com/gpu", "platform.slipway/pool"}


def test_a_pod_of_two_pools_may_run_on_either() -> None:
    spec = body(GOOD["two-pools"]())["spec"]["template"]["spec"]
    assert "nodeSelector" not in spec
    (term,) = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"][0]["values"] == ["spot", "shared"]
    pools = [each["value"] for each in spec["tolerations"] if each["key"] == "platform.slipway/pool"]
    assert pools == ["shared", "spot"]


def test_requests_equal_limits_unless_cpu_may_burst() -> None:
    burst = replace(SPOT.resources, cpu_limit="8").manifest()
    assert burst["requests"] | {"cpu": "8"} == burst["limits"]


def test_a_disruption_is_no_retry_and_a_usage_error_fails_the_job() -> None:
    ignored, fatal = body(GOOD["training-job"]())["spec"]["podFailurePolicy"]["rules"]
    assert ignored == {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}
    assert (fatal["action"], fatal["onExitCodes"]["values"]) == ("FailJob", [2, 126, 127])


def test_a_job_with_restart_on_failure_has_no_pod_failure_policy() -> None:
    assert "podFailurePolicy" not in body(GOOD["on-failure"]())["spec"]


def test_without_a_queue_there_is_no_queue_label() -> None:
    target = replace(TARGET, queue=None)
    job = body(training_job("mnist", replace(TRAINING, target=target, suspend=False)))
    assert not [label for label in job["metadata"]["labels"] if "kueue" in label]


def test_a_grid_has_every_combination_once() -> None:
    trials = grid(lr=[0.1, 0.01], depth=[2, 4, 8])
    assert len(trials) == len({json.dumps(trial) for trial in trials}) == 6


def test_each_trial_gets_its_file() -> None:
    manifests = bodies(sweep("grid", SWEEP))
    assert json.loads(manifests["trials"]["data"]["3.json"]) == {"depth": 4, "lr": 0.01}
    assert manifests["job"]["spec"]["completions"] == 4
    container = manifests["job"]["spec"]["template"]["spec"]["containers"][0]
    assert container["env"][-1] == {"name": "TRIAL_FILE", "value": "/trials/$(TRIAL).json"}
    # $(TRIAL) is expanded only if TRIAL comes before.
    assert container["env"][-2]["valueFrom"]["fieldRef"]["fieldPath"].endswith("job-completion-index']")


def test_one_failed_trial_does_not_fail_the_others() -> None:
    spec = body(sweep("grid", SWEEP))["spec"]
    assert (spec["backoffLimitPerIndex"], spec["maxFailedIndexes"]) == (1, 3)
    assert "backoffLimit" not in spec
    assert body(sweep("grid", replace(SWEEP, failed_trials=1)))["spec"]["maxFailedIndexes"] == 1


def test_a_notebook_shuts_down_when_idle() -> None:
    options = dict(each.removeprefix("--").split("=") for each in command(3600) if each.startswith("--"))
    kernels, server = "MappingKernelManager.cull_idle_timeout", "ServerApp.shutdown_no_activity_timeout"
    assert int(options[kernels]) + int(options[server]) == 3600
    assert options["MappingKernelManager.cull_connected"] == "True"


def test_another_session_has_another_job_and_the_same_disk_and_service() -> None:
    first, second = (bodies(notebook("lab", replace(NOTEBOOK, session=session))) for session in ("1", "2"))
    assert first["session"]["metadata"]["name"] == "lab-1"
    assert second["session"]["metadata"]["name"] == "lab-2"
    assert (first["home"], first["address"]) == (second["home"], second["address"])


def test_a_job_on_spot_may_be_evicted_at_an_interruption_notice_and_others_are_kept() -> None:
    on_spot = body(GOOD["training-job"]())["spec"]["template"]["metadata"]["annotations"]
    assert on_spot == {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}
    shared = body(training_job("kept", replace(TRAINING, pod=SHARE)))["spec"]["template"]["metadata"]["annotations"]
    assert shared["karpenter.sh/do-not-disrupt"] == "true"


def test_a_job_on_a_pool_with_a_spot_fallback_may_be_evicted_too() -> None:
    shared = replace(TARGET.pools["shared"], fallbacks=(TARGET.pools["spot"],))
    target = replace(TARGET, pools={**TARGET.pools, "shared": shared})
    pod = replace(SPOT, pools=("shared",), resources=SHARE.resources)
    annotations = body(training_job("one", replace(TRAINING, target=target, pod=pod)))["spec"]["template"]["metadata"][
        "annotations"
    ]
    assert "karpenter.sh/do-not-disrupt" not in annotations


GRACE = CPU.grace_seconds
SHORT = {"disruption": {"terminationGracePeriod": "48h"}}


def target_of(pools: dict[str, Any]) -> Target:
    target = targets.target_of(platform(pools), namespace="research")
    return replace(target, addons=None, queue="default", queued=None)


def job(deadline: int, pod: Any = CPU, **pools: Any) -> None:
    target = target_of({"cpu": {"preset": "cpu"}, **pools})
    training_job("job", TrainingJobArgs(target=target, pod=pod, deadline_seconds=deadline))


def test_a_job_may_run_as_long_as_the_drain_and_not_a_second_longer() -> None:
    job(2 * DAY - GRACE)
    with pytest.raises(WorkloadRefused) as refused:
        job(2 * DAY - GRACE + 1)
    (problem,) = refused.value.problems
    assert problem.fix == (
        f"Set at most {2 * DAY - GRACE}, or raise pools.cpu.disruption.terminationGracePeriod to 49h."
    )


def test_the_fix_of_the_message_works() -> None:
    job(2 * DAY, cpu={"preset": "cpu", "disruption": {"terminationGracePeriod": "49h"}})


def test_nodes_that_never_expire_still_drift() -> None:
    with pytest.raises(WorkloadRefused):
        job(3 * DAY, cpu={"preset": "cpu", "disruption": {"expireAfter": "Never"}})


def test_each_pool_of_a_job_counts() -> None:
    pod = replace(SHARE, pools=("long", "short"))
    long, short = ({"preset": "h100"}, {"preset": "h100", "disruption": {"terminationGracePeriod": "1h"}})
    with pytest.raises(WorkloadRefused, match=r"nodes of pool short"):
        job(DAY, pod, long=long, short=short)


def distributed() -> None:
    target = target_of({"short": {"preset": "h100", **SHORT}})
    pod = replace(NODE, pools=("short",), resources=replace(NODE.resources, efa=0))
    distributed_training(
        "llm", replace(DISTRIBUTED, target=target, pod=pod, topology=None, nodes=1, deadline_seconds=3 * DAY)
    )


@pytest.mark.parametrize("make", [
    lambda: pipeline("weekly", replace(PIPELINE, deadline_seconds=3 * DAY)),
    lambda: sweep("grid", replace(SWEEP, pod=CPU, deadline_seconds=3 * DAY)),
    lambda: notebook("lab", replace(NOTEBOOK, longest_seconds=3 * DAY)),
    distributed,
], ids=["pipeline", "sweep", "notebook", "distributed"])  # fmt: skip
def test_every_kind_of_job_is_checked(make: Callable[[], object]) -> None:
    with pytest.raises(WorkloadRefused, match=r"(deadline|longest)_seconds: nodes of pool \w+ are replaced"):
        make()


def test_spot_pools_promise_nothing() -> None:
    job(LONGEST, SPOT, spot={"preset": "gpu-spot"})


@pytest.mark.parametrize("preset", ["a100", "h100"])
def test_training_presets_drain_as_long_as_the_longest_job(preset: str) -> None:
    pod = replace(SHARE, pools=("gpus",))
    job(LONGEST, pod, gpus={"preset": preset, "role": "training"})
    assert PRESETS[preset]["role"] == "training"


def test_a_step_depends_on_earlier_steps() -> None:
    first, *_ = body(GOOD["pipeline"](), "template")["spec"]["templates"]
    prepare, train = first["dag"]["tasks"]
    assert "depends" not in prepare
    assert train["depends"] == "prepare"
    both = {"a": Step(pod=CPU), "b": Step(pod=CPU), "c": Step(pod=CPU, after=("a", "b"))}
    tasks = body(pipeline("x", replace(PIPELINE, steps=both)), "template")["spec"]["templates"][0]["dag"]["tasks"]
    assert tasks[-1]["depends"] == "a && b"


def test_each_step_runs_on_its_pool_and_is_queued_separately() -> None:
    _, prepare, train = body(GOOD["pipeline"](), "template")["spec"]["templates"]
    assert prepare["nodeSelector"] == {"platform.slipway/pool": "cpu"}
    assert train["nodeSelector"] == {"platform.slipway/pool": "spot"}
    assert all(each["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "default" for each in (prepare, train))


def test_pod_fields_that_a_template_lacks_are_patched_in() -> None:
    _, prepare, _ = body(GOOD["pipeline"](), "template")["spec"]["templates"]
    assert json.loads(prepare["podSpecPatch"]) == {"enableServiceLinks": False, "terminationGracePeriodSeconds": 30}


def test_a_run_has_a_deadline_and_a_ttl() -> None:
    spec = body(GOOD["pipeline"](), "template")["spec"]
    assert spec["activeDeadlineSeconds"] == 3600
    assert spec["ttlStrategy"] == {"secondsAfterCompletion": 86400}


def test_runs_and_schedules_refer_to_the_template() -> None:
    manifests = bodies(GOOD["pipeline"]())
    assert manifests["run"]["spec"] == {"workflowTemplateRef": {"name": "weekly"}}
    assert manifests["run"]["metadata"]["name"] == "weekly-first"
    schedule = manifests["schedule"]["spec"]
    assert schedule["workflowSpec"] == {"workflowTemplateRef": {"name": "weekly"}}
    assert (schedule["schedules"], schedule["concurrencyPolicy"]) == (["0 3 * * *"], "Forbid")


def test_without_a_run_or_a_schedule_nothing_starts() -> None:
    assert set(pipeline("weekly", replace(PIPELINE, run=None, schedule=None))) == {"template"}


EVERYTHING: dict[str, Any] = {"jobset": {}, "trainer": {}, "trainingOperator": {}, "mpiOperator": {},
    "leaderWorkerSet": {}, "kuberay": {}}  # fmt: skip


def suspended(manifest: Mapping[str, Any]) -> bool:
    spec = manifest.get("spec", {})
    return any(each.get("suspend") for each in (spec, spec.get("runPolicy", {}), spec.get("rayClusterConfig", {})))


def kinds() -> Iterator[str]:
    """Kinds of all typed workloads that are created suspended."""
    for make in GOOD.values():
        yield from (each["kind"] for each in bodies(make()).values() if suspended(each))


def test_kueue_manages_every_kind_that_is_created_suspended_once_its_add_on_is_installed() -> None:
    found = set(kinds())
    assert found >= {"Job", "JobSet", "MPIJob", "PyTorchJob", "TFJob", "TrainJob", "RayCluster", "RayJob", "RayService"}
    managed = frameworks(Addons.model_validate(EVERYTHING))
    assert {kind for kind in found if FRAMEWORKS.get(kind) not in managed} == set()


def test_without_add_ons_only_kinds_of_kubernetes_are_managed() -> None:
    assert frameworks(Addons()) == tuple(sorted(ALWAYS))

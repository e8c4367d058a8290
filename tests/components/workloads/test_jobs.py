"""Manifests of jobs, sweeps and notebooks."""

from __future__ import annotations

import json
from dataclasses import replace

from components.workloads import grid, notebook, sweep, training_job
from components.workloads.notebook import command
from tests.components.workloads.samples import GOOD, NOTEBOOK, SHARE, SPOT, SWEEP, TARGET, TRAINING, bodies, body


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

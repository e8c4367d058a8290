"""A verification from Jobs to report, and what Prometheus knows."""

import subprocess
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sandbox.kubernetes.client import ApiError
from sandbox.kubernetes.objects import Object, Ref
from slipway.verify import checks, preemption, report
from slipway.verify.checks import CheckStatus, ClusterCheck
from slipway.verify.metrics import of_metrics
from slipway.verify.probes import NAMESPACE, of_pools, of_teams
from slipway.verify.run import RENEW
from tests.slipway.verify.cluster import Cluster, runs, verified
from tests.support.stacks import platform_of

# What a verification reports about a cluster, and that it leaves nothing behind.


DEV = platform_of("dev")


def claim(name: str, mode: str = "ReadWriteMany", phase: str = "Bound", volume: str = "some") -> Object:
    """A claim of team vision."""
    metadata = {"name": name, "namespace": "vision"}
    spec = {"accessModes": [mode], **({"volumeName": volume} if volume else {})}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec,
            "status": {"phase": phase}}  # fmt: skip


def verify(
    cluster: Cluster, *, simulated: bool = False, connect: Callable[[], Any] | None = None
) -> list[ClusterCheck]:
    return verified(cluster, DEV, simulated=simulated, connect=connect)


def failed(found: list[ClusterCheck]) -> dict[tuple[str, str], str]:
    return {(one.subject, one.what): one.detail for one in found if one.status is CheckStatus.FAILED}


def test_a_cluster_that_works_passes_everything() -> None:
    cluster = Cluster(runs, claim("datasets"))
    found = verify(cluster)
    assert {one.status for one in found} == {CheckStatus.PASSED}
    lines = {(one.subject, one.what) for one in found}
    assert ("pool h100", "nvidia-smi lists its GPUs") in lines
    assert ("team vision (vision)", "its queue admits the Job") in lines
    assert ("team vision (vision)", "its pod mounts datasets") in lines
    assert ("team vision (vision)", "its pod writes to datasets") in lines
    assert ("pool h100", "its pod writes to a new volume of class gp3") in lines
    assert (QUEUE, preemption.WHAT) in lines
    left = [ref for ref in cluster.objects if ref.kind in ("Job", "Pod", "ClusterQueue", "LocalQueue")]
    assert not [*left, *(ref for ref in cluster.objects if ref.name == NAMESPACE)]


RIVALS = preemption.of_queues(DEV, 60)
assert RIVALS is not None
QUEUE = RIVALS.subject
WORKLOAD: Object = {
    "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
    "metadata": {"name": "job-1", "namespace": RIVALS.first["metadata"]["namespace"],
                 "labels": {"kueue.x-k8s.io/job-uid": "None"}},
    "status": {"conditions": [{"type": "QuotaReserved", "status": "False", "message": "couldn't assign flavors"}]},
}  # fmt: skip


def never_attached(cluster: Cluster, job: Object) -> None:
    """The Job's pod has a node, which can't attach its volume."""
    runs(cluster, job, phase="Pending")
    for ref, one in list(cluster.objects.items()):
        if ref.kind == "Pod" and ref.name.startswith(job["metadata"]["name"]):
            one["metadata"]["uid"], one["status"] = ref.name, {"phase": "Pending"}
            for hour, kind, reason, message in (
                ("10", "Warning", "FailedScheduling", "0/3 nodes are available"),
                ("11", "Warning", "FailedAttachVolume", "UnauthorizedOperation"),
                ("12", "Normal", "Pulling", "Pulling image"),
            ):
                cluster.apply(
                    {
                        "apiVersion": "v1", "kind": "Event", "type": kind, "reason": reason, "message": message,
                        "metadata": {"name": f"{ref.name}.{reason}", "namespace": ref.namespace},
                        "involvedObject": {"uid": ref.name}, "lastTimestamp": f"2026-11-22T{hour}:00:00Z",
                    }, "", force=True,
                )  # fmt: skip


FAULTS: dict[str, tuple[Callable[[Cluster, Object], None], tuple[str, str], str]] = {
    "a container without GPUs": (
        partial(runs, message="No devices were found"),
        ("pool h100", "nvidia-smi lists its GPUs"), "No devices were found",
    ),
    "a pod that fails": (
        partial(runs, phase="Failed", message="not found"),
        ("team vision (vision)", "its container runs"), "not found",
    ),
    "a disk that can't be written": (
        partial(runs, phase="Failed", message="sh: can't create /disk/file: Read-only file system"),
        ("pool cpu", "its pod writes to a new volume of class gp3"),
        "sh: can't create /disk/file: Read-only file system",
    ),
    "a volume that never attaches": (
        never_attached,
        ("pool cpu", "its pod writes to a new volume of class gp3"), "FailedAttachVolume: UnauthorizedOperation",
    ),
    "a queue that preempts nothing": (
        lambda cluster, job: None if job["metadata"]["name"].endswith("-second") else runs(cluster, job),
        (QUEUE, preemption.WHAT), "the second Job is not admitted: couldn't assign flavors",
    ),
    "a queue that is not active": (
        lambda cluster, job: None if job["metadata"]["name"].startswith(preemption.NAME) else runs(cluster, job),
        (QUEUE, preemption.WHAT), "the first Job is not admitted: couldn't assign flavors",
    ),
    "a queue that never admits": (
        lambda cluster, job: None if job["spec"].get("suspend") else runs(cluster, job),
        ("team vision (vision)", "its queue admits the Job"), "the Job is still suspended",
    ),
    "no node": (lambda _cluster, _job: None, ("pool h100", "its pod is placed on pool h100"), "no node"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_reported(fault: str) -> None:
    react, line, detail = FAULTS[fault]
    cluster = Cluster(react, WORKLOAD)
    assert failed(verify(cluster))[line] == detail
    assert not [ref for ref in cluster.objects if ref.kind == "Job"]


def test_a_node_that_advertises_no_gpu_is_reported() -> None:
    def bare(cluster: Cluster, job: Object) -> None:
        runs(cluster, job)
        for ref, one in cluster.objects.items():
            if ref.kind == "Node":
                one["status"]["allocatable"] = {"cpu": "8"}

    assert failed(verify(Cluster(bare)))["pool a100", "its node advertises nvidia.com/mig-1g.5gb"] == "0"


def test_a_pod_on_a_node_of_another_pool_is_reported() -> None:
    def astray(cluster: Cluster, job: Object) -> None:
        runs(cluster, job)
        for ref, one in cluster.objects.items():
            if ref.kind == "Node":
                one["metadata"]["labels"] = {"platform.slipway/pool": "other"}

    assert ("pool cpu", "its pod is placed on pool cpu") in failed(verify(Cluster(astray)))


def test_a_refused_job_is_reported_with_the_reason() -> None:
    found = failed(verify(Cluster(runs, refuses="pool-h100")))
    assert list(found) == [("pool h100", "the API server admits a Job")]
    assert "no pool fits this pod" in found["pool h100", "the API server admits a Job"]


def test_a_claim_without_its_volume_fails_and_one_that_waits_for_a_pod_does_not() -> None:
    lost, waiting = claim("lost", phase="Pending"), claim("home", "ReadWriteOnce", "Pending", volume="")
    assert checks.of_claims("team", [lost, waiting]) == ClusterCheck(
        "team", "its claims are bound", CheckStatus.FAILED, "not bound: lost; waits for its first pod: home"
    )
    assert checks.of_claims("team", [waiting]).status is CheckStatus.PASSED
    assert {probe.claims for probe in of_teams(DEV, {"vision": [waiting]}, 60)} == {()}


def test_the_sandbox_never_passes_what_only_aws_can_show() -> None:
    found = verify(Cluster(runs, claim("datasets")), simulated=True)
    needs = {one.what for one in found if one.status is CheckStatus.NEEDS_AWS}
    assert needs == {
        "nvidia-smi lists its GPUs", "its queue admits the Job", preemption.WHAT,
        "the namespaces of all teams have their team", "the nodes of pools that always have some have a cost",
        "the teams have a cost", "its pod writes to a new volume of class gp3",
    }  # fmt: skip
    assert not any(one.what in needs and one.status is CheckStatus.PASSED for one in found)


@pytest.mark.parametrize("allowed", [True, False])
def test_the_job_writes_to_the_claims_that_it_may_write_to(allowed: bool, tmp_path: Path) -> None:
    (probe,) = [
        one
        for one in of_teams(DEV, {"vision": [claim("models", "ReadOnlyMany"), claim("datasets"), claim("raw")]}, 60)
        if one.claims
    ]
    assert (probe.claims, probe.written) == (("datasets", "models", "raw"), ("datasets", "raw"))
    for name in ("datasets", "raw") if allowed else ("datasets",):
        (tmp_path / name).mkdir()
    *shell, command = probe.job["spec"]["template"]["spec"]["containers"][0]["command"]
    text = command.replace("/claims", str(tmp_path)).replace("/dev/termination-log", str(tmp_path / "last"))
    done = subprocess.run([*shell, text], env={"HOSTNAME": "pod-1", "PATH": "/usr/bin:/bin"}, check=False, timeout=60)
    assert (done.returncode == 0) is allowed
    assert ("raw" in (tmp_path / "last").read_text()) is not allowed
    assert not list(tmp_path.glob("*/.slipway*"))


@pytest.mark.parametrize(("disk", "devices", "code"), [(True, True, 0), (True, False, 127), (False, True, 2)])
def test_a_job_on_a_pool_writes_to_its_disk_before_it_asks_for_gpus(
    disk: bool, devices: bool, code: int, tmp_path: Path
) -> None:
    """It is the shell that fails on a folder that is missing (2) or a program (127)."""
    (probe,) = [one for one in of_pools(DEV, 60) if one.subject == "pool h100"]
    if disk:
        (tmp_path / "disk").mkdir()
    if devices:
        (tmp_path / "nvidia-smi").write_text("#!/bin/sh\necho 'GPU 0: NVIDIA H100'\n")
        (tmp_path / "nvidia-smi").chmod(0o755)
    *shell, command = probe.job["spec"]["template"]["spec"]["containers"][0]["command"]
    text = command.replace("/disk", f"{tmp_path}/disk").replace("/dev/termination-log", f"{tmp_path}/last")
    done = subprocess.run([*shell, text], env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, check=False, timeout=60)
    last = (tmp_path / "last").read_text()
    assert done.returncode == code
    assert ("disk written" in last, "GPU 0" in last) == (disk, disk and devices)


def test_what_ran_after_the_disk_was_written_says_nothing_about_the_disk() -> None:
    found = failed(verify(Cluster(partial(runs, phase="Failed", message="disk written\nnvidia-smi: not found"))))
    assert ("pool h100", "nvidia-smi lists its GPUs") in found
    assert ("pool h100", "its pod writes to a new volume of class gp3") not in found


def test_a_volume_of_the_run_that_stays_is_reported() -> None:
    volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv-1"},
              "spec": {"claimRef": {"namespace": NAMESPACE, "name": "disk"}}}  # fmt: skip
    found = failed(verify(Cluster(runs, volume)))
    assert found == {("clean-up", "nothing of this run is left"): "PersistentVolume pv-1"}


def test_an_interrupted_run_is_cleaned_up() -> None:
    def interrupt(_cluster: Cluster, job: Object) -> None:
        if job["metadata"]["name"] == "slipway-verify":
            raise KeyboardInterrupt

    cluster = Cluster(interrupt)
    with pytest.raises(KeyboardInterrupt):
        verify(cluster)
    assert cluster.objects == {}


def test_what_an_earlier_run_left_is_removed_first() -> None:
    cluster = Cluster(runs)
    old = of_pools(DEV, 60)[0].job
    cluster.objects[Ref.of(old)] = old
    assert failed(verify(cluster)) == {}


def test_the_client_is_renewed_before_its_token_expires() -> None:
    made: list[Cluster] = []

    def connect() -> Cluster:
        made.append(made[0] if made else Cluster(lambda _cluster, _job: None))
        return made[0]

    verify(Cluster(runs), connect=connect)
    assert len(made) >= 1200 // RENEW


def test_the_cost_counts_one_node_of_each_pool() -> None:
    hour, unpriced = report.cost(DEV, Decimal(1))
    third, _ = report.cost(DEV, Decimal(1) / 3)
    assert unpriced == []
    assert hour > 10
    assert abs(third * 3 - hour) < Decimal("0.01")


def test_the_report_has_every_check_and_what_is_not_covered() -> None:
    found = verify(Cluster(runs))
    text = report.markdown("dev", found, report.not_covered(DEV), simulated=False)
    assert all(f"| {one.subject} | {one.what} | passed |" in text for one in found)
    assert f"{len(found)} passed, 0 failed, 0 need AWS." in text
    assert "a model that answers" in text
    parsed = report.document("dev", found, report.not_covered(DEV), simulated=False)
    assert len(parsed["checks"]) == len(found)
    assert parsed["notCovered"] == list(report.not_covered(DEV))


# What `slipway verify` asks Prometheus.


PROD = platform_of("prod")
TEAMS, COST = "the namespaces of all teams have their team", "the nodes of pools that always have some have a cost"
TEAM_COST = "the teams have a cost"
GPUS = "metrics of GPUs arrive"


def statuses(series: Mapping[str, list[str]]) -> dict[str, tuple[CheckStatus, str]]:
    cluster = Cluster(lambda _cluster, _job: None)
    cluster.series = series
    return {one.what: (one.status, one.detail) for one in of_metrics(cluster.get_path, PROD, simulated=False)}


def test_a_stack_whose_metrics_arrive_passes() -> None:
    assert statuses({}) == dict.fromkeys((TEAMS, TEAM_COST, COST, GPUS), (CheckStatus.PASSED, ""))


@pytest.mark.parametrize(
    ("series", "what", "detail"),
    [
        ({"namespace_team": ["vision-training", "language-serving", "language-training"]}, TEAMS, "vision-serving"),
        ({"node:usd_per_hour": ["system", "h100"]}, COST, "none for a100"),
        ({"team:usd_per_hour": ["vision"]}, TEAM_COST, "none for language"),
        ({"gpu:active": []}, GPUS, "no series of count by (node)"),
    ],
)
def test_what_does_not_arrive_is_reported(series: Mapping[str, list[str]], what: str, detail: str) -> None:
    found = statuses(series)
    assert found[what][0] is CheckStatus.FAILED
    assert detail in found[what][1]
    assert [one for one, _ in found.values()].count(CheckStatus.FAILED) == 1


def test_a_prometheus_that_does_not_answer_is_reported() -> None:
    def refuse(_path: str) -> Any:
        raise ApiError(503, {"message": "no endpoints available for service"})

    found = list(of_metrics(refuse, PROD, simulated=False))
    assert {one.status for one in found} == {CheckStatus.FAILED}
    assert all("no endpoints available" in one.detail for one in found)


def test_the_sandbox_says_that_metrics_need_aws_and_asks_nothing() -> None:
    def never(_path: str) -> Any:
        raise AssertionError

    assert {one.status for one in of_metrics(never, PROD, simulated=True)} == {CheckStatus.NEEDS_AWS}

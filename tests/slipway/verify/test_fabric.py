"""nccl-tests between two nodes: what is created, what its output proves, and what it costs."""

import subprocess
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import load_ssh_private_key, load_ssh_public_key

from sandbox.kubernetes.objects import Object
from slipway.verify import fabric, report
from slipway.verify.checks import CheckStatus, ClusterCheck
from slipway.verify.fabric import TOLERANCE, parse
from spec.pools.resolution import resolve_all
from spec.pricing.pools import node_hourly
from spec.settings.platform import Platform
from tests.slipway.verify.cluster import NCCL, Cluster, runs, verified
from tests.support.stacks import platform_of

PROD = platform_of("prod")


BANDWIDTH = "the bus bandwidth is that of the type"


def verify(cluster: Cluster, platform: Platform = PROD, *, simulated: bool = False) -> dict[str, ClusterCheck]:
    """The checks of pool h100 that come from nccl-tests, by what they ask."""
    found = verified(cluster, platform, simulated=simulated)
    asked = ("NCCL", "all_reduce", "bandwidth", "nccl-tests", "pods are placed")
    return {one.what: one for one in found if one.subject == "pool h100" and any(text in one.what for text in asked)}


def says(message: str, *, phase: str = "Succeeded") -> Cluster:
    """A cluster in which nccl-tests ends with a message."""

    def react(cluster: Cluster, job: Object) -> None:
        nccl = job["metadata"]["namespace"] == fabric.NAMESPACE
        runs(cluster, job, **({"message": message, "phase": phase} if nccl else {}))

    return Cluster(react)


def test_two_nodes_that_reach_the_published_bandwidth_pass() -> None:
    found = verify(Cluster(runs))
    assert {one.status for one in found.values()} == {CheckStatus.PASSED}
    assert found[BANDWIDTH].detail.startswith("487.09 GB/s at 17179869184 bytes; published: 487.09 at 17179869184")
    assert found["its 2 pods are placed on 2 nodes of pool h100"].detail == "node-h100-0, node-h100-1"


SLOW = NCCL.replace("259.78  487.09", "207.00  389.60")
FAULTS: Mapping[str, tuple[str, str, str]] = {
    "too slow": (SLOW, BANDWIDTH, "at least 389.7 is accepted"),
    "the largest message is missing": (NCCL.replace(" 17179869184 ", " 1717986918 "), BANDWIDTH, "479.28 GB/s"),
    "TCP": (NCCL.replace("efa", "tcp"), "NCCL uses EFA", "provider tcp"),
    "sockets without libfabric": (NCCL.partition("\n")[2], "NCCL uses EFA", "names no provider"),
    "wrong values": (
        NCCL.replace("487.09      0", "487.09      3"),
        "all_reduce_perf computes right values",
        "3 wrong",
    ),
    "no output": ("mpirun: command not found", "all_reduce_perf runs", "mpirun: command not found"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_reported(fault: str) -> None:
    message, what, detail = FAULTS[fault]
    one = verify(says(message))[what]
    assert one.status is CheckStatus.FAILED
    assert detail in one.detail


def test_a_result_of_a_run_that_failed_does_not_pass() -> None:
    assert verify(says(NCCL, phase="Failed"))["all_reduce_perf runs"].status is CheckStatus.FAILED


def test_both_pods_on_one_node_prove_nothing() -> None:
    def crowded(cluster: Cluster, job: Object) -> None:
        runs(cluster, job)
        for ref, one in cluster.objects.items():
            if ref.kind == "Pod":
                one["spec"]["nodeName"] = one["spec"]["nodeName"][:-1] + "0"

    one = verify(Cluster(crowded))["its 2 pods are placed on 2 nodes of pool h100"]
    assert (one.status, one.detail) == (CheckStatus.FAILED, "on 1")


def test_the_sandbox_proves_admission_and_placement_and_says_that_the_rest_needs_aws() -> None:
    found = verify(Cluster(runs), simulated=True)
    assert {what: one.status for what, one in found.items()} == {
        "the API server admits nccl-tests on two nodes": CheckStatus.PASSED,
        "its 2 pods are placed on 2 nodes of pool h100": CheckStatus.PASSED,
        "NCCL uses EFA": CheckStatus.NEEDS_AWS,
        "all_reduce_perf computes right values": CheckStatus.NEEDS_AWS,
        BANDWIDTH: CheckStatus.NEEDS_AWS,
    }


@pytest.mark.parametrize("refused", ["nccl-h100", "nccl-h100-ssh"])
def test_a_refused_object_is_reported_and_nothing_is_left(refused: str) -> None:
    cluster = Cluster(runs, refuses=refused)
    found = verify(cluster)
    assert [(one.what, one.status) for one in found.values()] == [
        ("the API server admits nccl-tests on two nodes", CheckStatus.FAILED)
    ]
    assert not [ref for ref in cluster.objects if ref.kind not in ("Node",)]


def test_a_type_without_a_published_result_is_measured_and_not_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fabric, "all_reduce", lambda _: None)
    one = verify(Cluster(runs))[BANDWIDTH]
    assert one.status is CheckStatus.MEASURED
    assert "no result is published for p5.48xlarge" in one.detail
    assert ", 1 measured" in report.counts([one])


def test_the_job_asks_for_two_whole_nodes_and_ends_with_its_first_pod() -> None:
    (probe,) = fabric.of_fabric(PROD, 60, image="registry.example.com/nccl-tests@sha256:0")
    spec = probe.job["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    assert container["image"] == "registry.example.com/nccl-tests@sha256:0"
    assert container["resources"]["limits"] | {"cpu": 0, "memory": 0} == {
        "cpu": 0, "memory": 0, "hugepages-2Mi": "5Gi", "nvidia.com/gpu": "8", "vpc.amazonaws.com/efa": "32",
    }  # fmt: skip
    assert (spec["completions"], spec["parallelism"], spec["completionMode"]) == (2, 2, "Indexed")
    assert spec["successPolicy"] == {"rules": [{"succeededIndexes": "0"}]}
    secret, service = probe.before
    assert spec["template"]["spec"]["subdomain"] == service["metadata"]["name"]
    private = load_ssh_private_key(secret["stringData"]["id"].encode(), None)
    assert private.public_key() == load_ssh_public_key(secret["stringData"]["id.pub"].encode())


def test_each_run_has_a_key_of_its_own() -> None:
    keys = {probe.before[0]["stringData"]["id"] for _ in range(2) for probe in fabric.of_fabric(PROD, 60)}
    assert len(keys) == 2


def test_pools_without_two_nodes_or_whole_gpus_are_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = resolve_all(PROD)["h100"]
    assert fabric.measurable(pool)
    assert not fabric.measurable(replace(pool, settings=pool.settings.model_copy(update={"max": 1})))
    assert not fabric.measurable(replace(pool, resources={"nvidia.com/mig-1g.10gb": 56}))
    assert not fabric.measurable(replace(pool, efa_count=0))
    assert not any("EFA" in text for text in report.not_covered(PROD))
    monkeypatch.setattr(report, "measurable", lambda _: False)
    assert "bandwidth of EFA on pool h100" in "; ".join(report.not_covered(PROD))


def test_the_cost_counts_two_nodes_where_nccl_tests_runs() -> None:
    staging = platform_of("staging")
    hour, unpriced = report.cost(staging, Decimal(1))
    prices: dict[str, Any] = {name: node_hourly(pool) for name, pool in resolve_all(staging).items()}
    assert unpriced == []
    assert hour == sum(prices.values()) + prices["h100"]


def script(tmp_path: Path, mpirun: str) -> tuple[int, str]:
    """Exit code and last message of the part that measures, with another mpirun."""
    fake = tmp_path / "mpirun"
    fake.write_text(f"#!/bin/sh\n{mpirun}\n")
    fake.chmod(0o755)
    text = fabric.MEASURE.replace("/tmp/", f"{tmp_path}/").replace("/dev/termination-log", str(tmp_path / "last"))  # noqa: S108
    text = text.replace("/opt/amazon/openmpi/bin/mpirun", str(fake))
    variables = dict.fromkeys(("PROCESSES", "HOSTS", "SMALLEST", "LARGEST"), "1")
    done = subprocess.run(["bash", "-euc", text], env={"PATH": "/usr/bin:/bin", **variables}, check=False, timeout=60)
    return done.returncode, (tmp_path / "last").read_text()


def test_the_message_has_the_result_and_the_provider(tmp_path: Path) -> None:
    rows = "\n".join(NCCL.splitlines()[1:])
    log = "node:1:2 [0] NCCL INFO NET/OFI Selected provider is efa, fabric is efa-direct (found 32 nics)"
    code, message = script(tmp_path, f"echo '{log}' >{tmp_path}/nccl.node.1\ncat <<'E'\n# header\n{rows}\nE")
    result = parse(message)
    assert (code, message) == (0, NCCL)
    assert result is not None
    assert (result.busbw, result.wrong) == (Decimal("487.09"), 0)


def test_the_message_of_a_failure_has_the_end_of_its_output(tmp_path: Path) -> None:
    code, message = script(tmp_path, "echo 'no route to host' >&2; exit 3")
    assert (code, message) == (3, "no route to host\n")


def test_the_tolerance_is_a_part_of_the_published_result() -> None:
    assert Decimal(0) < TOLERANCE < Decimal(1)
    assert partial(verify, says(SLOW.replace("389.60", "389.70")))()[BANDWIDTH].status is CheckStatus.PASSED

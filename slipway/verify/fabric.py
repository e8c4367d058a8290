"""nccl-tests on two nodes of each pool with EFA: an Indexed Job of two pods, and what its output proves.

The pods are what AWS's own example is for the MPI Operator (github.com/awslabs/awsome-distributed-ai,
micro-benchmarks/nccl-tests, read 2026-11-22), without the operator, which a stack need not have: an SSH server in each,
a key for this run, `all_reduce_perf` with one process per GPU. The image runs as root, so the Jobs have a namespace of
their own, with the level `baseline` of Pod Security.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from components.addons.trainer import whole_node
from sandbox.kubernetes.objects import Object
from slipway.verify.checks import CheckStatus, ClusterCheck, Observed, message, placed
from slipway.verify.probes import LABEL, Probe
from spec.catalog.document import Source, load, source
from spec.pools import keys
from spec.pools.pool_spec import PoolSpec
from spec.pools.resolution import resolve_all
from spec.settings.platform import Platform

# nccl-tests on two nodes of each pool with EFA: an Indexed Job of two pods, whose first one runs `mpirun`.


NAMESPACE: Final = "slipway-verify-nccl"  # namespace of these Jobs; it exists only while the command runs
IMAGE: Final = "public.ecr.aws/hpc-cloud/nccl-tests:cuda13.0.2-efa1.48.0-ofiv1.19.0-ncclv2.30.4-1-testsv2.18.3"
"""AWS's public image (awslabs/awsome-distributed-ai#1070, 2026-04-29). CUDA 13.0 needs the driver R580, which the AMIs
of EKS have. AWS publishes no list of digests; `--nccl-image` takes one, or a copy in a registry of yours."""
NODES: Final = 2
SIZE: Final = 2147483648  # largest message, in bytes, for a type without a published result
_SECRET: Final = "ssh"  # noqa: S105 - the name of an object
CONNECT: Final = Path(__file__).with_name("connect.sh").read_text(encoding="utf-8")
MEASURE: Final = Path(__file__).with_name("measure.sh").read_text(encoding="utf-8")
"""The log of NCCL goes to files, so that its lines don't cut those of the result. A termination message has at most
4096 bytes (Kubernetes, "Determine the Reason for Pod Failure")."""


@dataclass(frozen=True)
class AllReduce:
    """A published result of `all_reduce_perf` on two nodes."""

    size: int  # size of the message, in bytes
    busbw: Decimal  # bus bandwidth, in GB/s
    source: Source  # where and when it was read


def all_reduce(instance_type: str) -> AllReduce | None:
    """The published result of an instance type; None if there is none."""
    document = load("nccl.yaml")
    entry = document["types"].get(instance_type)
    return AllReduce(entry["size"], Decimal(str(entry["busbw"])), source(document)) if entry else None


@dataclass(frozen=True)
class FabricProbe(Probe):
    """nccl-tests on a pool."""

    published: AllReduce | None = None  # the published result of the pool's instance type, if there is one


def measurable(pool: PoolSpec) -> bool:
    """Whether a pool has EFA, whole GPUs, and two nodes."""
    whole = pool.gpu_count and pool.resources.get(keys.GPU) == pool.gpu_count
    return bool(pool.efa_count and whole and pool.settings.max >= NODES and not pool.waiting)


def of_fabric(platform: Platform, deadline: int, image: str = IMAGE) -> list[FabricProbe]:
    """A Job on each pool that can be measured; `deadline` in seconds."""
    found = []
    for name, pool in sorted(resolve_all(platform).items()):
        if not measurable(pool):
            continue
        published = all_reduce(pool.instance_types[0].name) if len(pool.instance_types) == 1 else None
        private, public = _key()
        job = f"nccl-{name}"
        found.append(
            FabricProbe(
                f"pool {name}",
                pool,
                _job(job, pool, published.size if published else SIZE, deadline, image),
                {keys.GPU: pool.gpu_count, keys.EFA: pool.efa_count},
                before=(_secret(job, private, public), _service(job)),
                published=published,
            )
        )
    return found


def namespace() -> Object:
    """The namespace of the Jobs."""
    labels = {LABEL: "true", "pod-security.kubernetes.io/enforce": "baseline"}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "labels": labels}}


def _key() -> tuple[str, str]:
    """A key pair for one run, in OpenSSH's formats."""
    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
    return private.decode(), key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode() + "\n"


def _metadata(name: str) -> dict[str, Any]:
    return {"name": name, "namespace": NAMESPACE, "labels": {LABEL: "true"}}


def _secret(job: str, private: str, public: str) -> Object:
    values = {"id": private, "id.pub": public}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": _metadata(f"{job}-{_SECRET}"), "stringData": values}


def _service(job: str) -> Object:
    """Names for the pods, also before they are ready (Kubernetes, "DNS for Services and Pods")."""
    spec = {
        "clusterIP": "None",
        "publishNotReadyAddresses": True,
        "selector": {"batch.kubernetes.io/job-name": job},
        "ports": [{"name": "ssh", "port": 22, "protocol": "TCP"}],
    }
    return {"apiVersion": "v1", "kind": "Service", "metadata": _metadata(job), "spec": spec}


def _job(name: str, pool: PoolSpec, largest: int, deadline: int, image: str) -> Object:
    hosts = [f"{name}-{index}.{name}" for index in range(NODES)]
    variables = {
        "PEER": hosts[1],
        "HOSTS": ",".join(f"{host}:{pool.gpu_count}" for host in hosts),
        "PROCESSES": str(NODES * pool.gpu_count),
        "SMALLEST": str(largest >> 6),
        "LARGEST": str(largest),
        # libfabric fails without EFA instead of using TCP; what NCCL then does is in its log.
        "FI_PROVIDER": "efa",
        "NCCL_DEBUG": "INFO",
        "NCCL_DEBUG_FILE": "/tmp/nccl.%h.%p",  # noqa: S108 - in the container
        "NCCL_SOCKET_IFNAME": "eth0",
    }
    resources = whole_node(pool)
    container: dict[str, Any] = {
        "name": "nccl-tests",
        "image": image,
        "command": ["bash", "-c", CONNECT + MEASURE],
        "env": [{"name": key, "value": value} for key, value in variables.items()],
        "resources": {"requests": resources, "limits": resources},
        "volumeMounts": [
            {"name": "shared-memory", "mountPath": "/dev/shm"},  # noqa: S108 - in the container
            {"name": _SECRET, "mountPath": "/ssh", "readOnly": True},
        ],
    }
    pod = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "subdomain": name,
        "nodeSelector": {keys.POOL: pool.name},
        "tolerations": [one.manifest for one in pool.tolerations],
        "containers": [container],
        "volumes": [
            {"name": "shared-memory", "emptyDir": {"medium": "Memory"}},
            {"name": _SECRET, "secret": {"secretName": f"{name}-{_SECRET}", "defaultMode": 0o400}},
        ],
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": _metadata(name),
        "spec": {
            "completionMode": "Indexed",
            "completions": NODES,
            "parallelism": NODES,
            # The other pod serves SSH until it is ended (Kubernetes, "Job success policy").
            "successPolicy": {"rules": [{"succeededIndexes": "0"}]},
            "backoffLimit": 0,
            "activeDeadlineSeconds": deadline,
            "ttlSecondsAfterFinished": 3600,
            "template": {"metadata": {"labels": {LABEL: "true"}}, "spec": pod},
        },
    }


# What the output of nccl-tests proves about the fabric between two nodes.


TOLERANCE: Final = Decimal("0.2")
"""How much less than the published result is accepted: what AWS ParallelCluster's tests of EFA accept
(aws-parallelcluster, tests/integration-tests/tests/efa/test_efa.py, `_check_osu_benchmarks_results`, 2026-11-22)."""
_ROW: Final = re.compile(
    r"^\s*(\d+)\s+\d+\s+[a-z]\w*\s+\S+\s+-?\d+\s+[\d.]+\s+[\d.]+\s+([\d.]+)\s+(\d+|N/A)\s", re.MULTILINE
)
"""`size count type redop root time algbw busbw #wrong ...`, first out of place, then in place (nccl-tests v2.18)."""
_PROVIDER: Final = re.compile(r"selected provider is ([a-z0-9-]+)", re.IGNORECASE)


@dataclass(frozen=True)
class Result:
    """The row of the largest message."""

    size: int  # its size, in bytes
    busbw: Decimal  # bus bandwidth, in GB/s, out of place
    wrong: int | None  # how many values were wrong; None if that was not checked


def parse(output: str) -> Result | None:
    """The result for the largest message; None if there is no row."""
    rows = [
        Result(int(size), Decimal(busbw), None if wrong == "N/A" else int(wrong))
        for size, busbw, wrong in _ROW.findall(output)
    ]
    return max(rows, key=lambda row: row.size, default=None)


def of_fabric_probe(probe: FabricProbe, seen: Observed, *, simulated: bool) -> Iterator[ClusterCheck]:
    """The checks of nccl-tests on one pool."""
    subject, name = probe.subject, probe.pool.name
    what = "the API server admits nccl-tests on two nodes"
    if seen.refused:
        yield ClusterCheck(subject, what, CheckStatus.FAILED, seen.refused)
        return
    yield ClusterCheck(subject, what, CheckStatus.PASSED)
    nodes = {str(node["metadata"]["name"]) for _, node in seen.pods if node and placed(node, probe)}
    what = f"its {NODES} pods are placed on {NODES} nodes of pool {name}"
    if len(nodes) < NODES:
        yield ClusterCheck(subject, what, CheckStatus.FAILED, seen.why or f"on {len(nodes)}")
        return
    yield ClusterCheck(subject, what, CheckStatus.PASSED, ", ".join(sorted(nodes)))
    checks = ("NCCL uses EFA", "all_reduce_perf computes right values", "the bus bandwidth is that of the type")
    if simulated:
        yield from (
            ClusterCheck(subject, each, CheckStatus.NEEDS_AWS, "no container runs in the sandbox") for each in checks
        )
        return
    output = message(seen)
    result, provider = parse(output), _PROVIDER.search(output)
    phase = ((seen.pod or {}).get("status") or {}).get("phase")
    if result is None or phase != "Succeeded":
        yield ClusterCheck(
            subject, "all_reduce_perf runs", CheckStatus.FAILED, output or seen.why or f"the pod is {phase}"
        )
        return
    on_efa = provider is not None and provider.group(1).lower() == "efa"
    yield ClusterCheck(
        subject, checks[0], CheckStatus.PASSED if on_efa else CheckStatus.FAILED,
        f"provider {provider.group(1)}" if provider else "its log names no provider of libfabric",
    )  # fmt: skip
    right = CheckStatus.FAILED if result.wrong != 0 else CheckStatus.PASSED
    yield ClusterCheck(subject, checks[1], right, "not checked" if result.wrong is None else f"{result.wrong} wrong")
    yield _bandwidth(probe, result, checks[2])


def _bandwidth(probe: FabricProbe, result: Result, what: str) -> ClusterCheck:
    measured = f"{result.busbw} GB/s at {result.size} bytes"
    if probe.published is None:
        kinds = ", ".join(kind.name for kind in probe.pool.instance_types)
        return ClusterCheck(
            probe.subject, what, CheckStatus.MEASURED, f"{measured}; no result is published for {kinds}"
        )
    least = probe.published.busbw * (1 - TOLERANCE)
    passed = result.size == probe.published.size and result.busbw >= least
    expected = f"published: {probe.published.busbw} at {probe.published.size}, at least {least:.1f} is accepted"
    return ClusterCheck(
        probe.subject, what, CheckStatus.PASSED if passed else CheckStatus.FAILED, f"{measured}; {expected}"
    )

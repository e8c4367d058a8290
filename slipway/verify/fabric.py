"""nccl-tests on two nodes of each pool with EFA: an Indexed Job of two pods, whose first one runs `mpirun`.

The pods are what AWS's own example is for the MPI Operator (github.com/awslabs/awsome-distributed-ai,
micro-benchmarks/nccl-tests, read 2026-11-22), without the operator, which a stack need not have: an SSH server in each,
a key for this run, `all_reduce_perf` with one process per GPU. The image runs as root, so the Jobs have a namespace of
their own, with the level `baseline` of Pod Security.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from components.addons.trainer.runtimes import whole_node
from slipway.sandbox.kubernetes.objects import Object
from slipway.verify.probes import LABEL, Probe
from spec.catalog.nccl import AllReduce, all_reduce
from spec.pools import keys
from spec.pools.pool_spec import PoolSpec
from spec.pools.resolution import resolve_all
from spec.settings.platform import Platform

NAMESPACE: Final = "slipway-verify-nccl"
"""Namespace of these Jobs; it exists only while the command runs."""
IMAGE: Final = "public.ecr.aws/hpc-cloud/nccl-tests:cuda13.0.2-efa1.48.0-ofiv1.19.0-ncclv2.30.4-1-testsv2.18.3"
"""AWS's public image (awslabs/awsome-distributed-ai#1070, 2026-04-29). CUDA 13.0 needs the driver R580, which the AMIs
of EKS have. AWS publishes no list of digests; `--nccl-image` takes one, or a copy in a registry of yours."""
NODES: Final = 2
SIZE: Final = 2147483648
"""Largest message, in bytes, for a type without a published result."""
_SECRET: Final = "ssh"  # noqa: S105 - the name of an object
CONNECT: Final = """\
set -eu
install -d -m 700 /root/.ssh
install -d -m 755 /run/sshd
install -m 600 /ssh/id /root/.ssh/id_ed25519
install -m 600 /ssh/id.pub /root/.ssh/authorized_keys
ssh-keygen -A
if [ "$JOB_COMPLETION_INDEX" != 0 ]; then exec /usr/sbin/sshd -D -e; fi
until ssh -o BatchMode=yes -o ConnectTimeout=5 "$PEER" true; do sleep 5; done
"""
MEASURE: Final = """\
code=0
/opt/amazon/openmpi/bin/mpirun --allow-run-as-root -np "$PROCESSES" --host "$HOSTS" --bind-to none \\
  -x PATH -x LD_LIBRARY_PATH -x LD_PRELOAD -x FI_PROVIDER -x NCCL_DEBUG -x NCCL_DEBUG_FILE -x NCCL_SOCKET_IFNAME \\
  /opt/nccl-tests/build/all_reduce_perf -b "$SMALLEST" -e "$LARGEST" -f 2 -g 1 -c 1 -n 20 >/tmp/out 2>&1 || code=$?
{
  cat /tmp/nccl.* 2>/dev/null | grep -iom1 'selected provider is [a-z0-9-]*' || true
  grep -E '^ *[0-9]+ +[0-9]+ +[a-z]+ ' /tmp/out | tail -n 3 || true
  grep '^# Out of bounds' /tmp/out || true
  if [ "$code" != 0 ]; then tail -c 1500 /tmp/out; fi
} >/dev/termination-log
exit "$code"
"""
"""The log of NCCL goes to files, so that its lines don't cut those of the result. A termination message has at most
4096 bytes (Kubernetes, "Determine the Reason for Pod Failure")."""


@dataclass(frozen=True)
class FabricProbe(Probe):
    """nccl-tests on a pool.

    Attributes:
        published: The published result of the pool's instance type, if there is one.
    """

    published: AllReduce | None = None


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

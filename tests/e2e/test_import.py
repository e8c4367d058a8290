"""What waits in a sandbox waits for the same in another sandbox, into which the first is imported."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from sandbox import toolchain
from sandbox.kubernetes.objects import Object
from tests.e2e.world import some_charts

pytestmark = pytest.mark.sandbox
KUEUE: Final = "kueue.x-k8s.io/v1beta2"
SPACES: Final = ("vision", "full")
LEAST: Final = 200
IMAGES: Final = {
    "kueue": "kueue/kueue:v0.19.2",
    "jobset": "jobset/jobset:v0.12.0",
    "trainer": "trainer/trainer-controller-manager:v2.3.0",
    "kuberay": "kuberay/operator:v1.6.1",
    "lws": "lws/lws:v0.9.0",
}
"""Image of each controller that the cluster has."""


def test_what_waits_waits_for_the_same_in_another_sandbox(tmp_path: Path, shared: Path) -> None:
    if missing := [name for name in ("helm", *IMAGES) if toolchain.find(name) is None]:
        pytest.skip(f"not built: `python -m sandbox.toolchain ensure {' '.join(missing)}`")
    charts = some_charts(
        shared, ("kueue", "jobset", "kubeflow-trainer", "kuberay-operator", "lws"), tmp_path / "charts"
    )
    (tmp_path / "objects.json").write_text(json.dumps(list(objects())), encoding="utf-8")
    run(tmp_path, charts, "import", "objects.json", "--out", "first")
    before = answers(tmp_path, charts, "first", "import", "--sandbox", "--out", "second")
    after = answers(tmp_path, charts, "second")
    assert len(before) >= LEAST
    assert len({each.partition(":")[0] for each in before.values()}) >= 4, Counter(before.values())
    other = {name: (layer, after.get(name, "nothing")) for name, layer in before.items() if after.get(name) != layer}
    assert len(other) <= 0.05 * len(before), other


def answers(place: Path, charts: Path, folder: str, *then: str) -> dict[tuple[str, str], str]:
    """What holds each workload of a sandbox that begins with a folder, by namespace and name, once all is settled."""
    try:
        run(place, charts, "sandbox", "start", "--from", folder)
        found = dict(held(place, charts))
        if then:
            run(place, charts, *then)
        return found
    finally:
        run(place, charts, "sandbox", "stop")


def held(place: Path, charts: Path) -> Iterator[tuple[tuple[str, str], str]]:
    for space in SPACES:
        rows = json.loads(run(place, charts, "why", "--sandbox", "-n", space, "--json", code=1))
        for row in rows:
            # The layer, and what it says of it, without numbers and names of what they made.
            yield (row["namespace"], row["subject"]), f"{row['layer']}: {re.split(r'[0-9:]', row['cause'])[0]}"


def run(place: Path, charts: Path, *words: str, code: int = 0) -> str:
    kept = {
        key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "PULUMI_", "SLIPWAY_", "KUBE"))
    }
    ours = {
        "SLIPWAY_SANDBOX_HOME": str(place / "home"),
        "SLIPWAY_CHARTS": str(charts),
        "SLIPWAY_CONTROLLERS": ",".join(IMAGES),
    }
    command = [sys.executable, "-m", "slipway", *words]
    done = subprocess.run(
        command, cwd=place, env=kept | ours, text=True, capture_output=True, check=False, timeout=1800
    )
    assert done.returncode == code, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


def objects() -> Iterator[Object]:
    """Two nodes of four GPUs, a queue that is full and one that is stopped, and what waits for either or for nodes."""
    yield made("v1", "Node", "gpu-1", status=STATUS, labels={"pool": "gpu", "kubernetes.io/hostname": "gpu-1"})
    yield made("v1", "Node", "gpu-2", status=STATUS, labels={"pool": "gpu", "kubernetes.io/hostname": "gpu-2"})
    for name in (*SPACES, *(f"{one}-system" for one in IMAGES)):
        yield made("v1", "Namespace", name, labels={"kubernetes.io/metadata.name": name})
    for name, image in IMAGES.items():
        template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "manager", "image": image}]}}
        spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
        yield made("apps/v1", "Deployment", f"{name}-controller-manager", f"{name}-system", spec=spec)
    yield made(KUEUE, "ResourceFlavor", "gpu", spec={"nodeLabels": {"pool": "gpu"}})
    for name, policy in (("open", "None"), ("stopped", "Hold")):
        resources = [{"name": "nvidia.com/gpu", "nominalQuota": "4"}, {"name": "cpu", "nominalQuota": "40"}]
        group = {"coveredResources": ["nvidia.com/gpu", "cpu"], "flavors": [{"name": "gpu", "resources": resources}]}
        spec = {"namespaceSelector": {}, "stopPolicy": policy, "resourceGroups": [group]}
        yield made(KUEUE, "ClusterQueue", name, spec=spec)
        yield made(KUEUE, "LocalQueue", name, "vision", spec={"clusterQueue": name})
    yield made("v1", "ResourceQuota", "none", "full", spec={"hard": {"requests.cpu": "1"}})
    yield job("runs", "open", 4)
    for number in range(50):
        yield job(f"later-{number}", "open", 2)
    for number in range(30):
        yield job(f"never-{number}", "open", 16)
        yield job(f"held-{number}", "stopped", 1)
        yield job(f"nowhere-{number}", "missing", 1)
        yield job(f"over-{number}", "", 0, "full")
        yield job(f"lost-{number}", "open", 1, selector={"pool": "none"})
        yield made("v1", "Pod", f"big-{number}", "vision", spec=pod("100", {}))
        volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "nobody-made-it"}}]
        yield made("v1", "Pod", f"empty-{number}", "vision", spec={**pod("1", {}), "volumes": volumes})
    yield from made_by_others()


def made_by_others() -> Iterator[Object]:
    """Jobs of other controllers, which Kueue holds, and a claim of a volume in a zone without nodes."""
    queue, gpus = {"kueue.x-k8s.io/queue-name": "open"}, pod("1", {"nvidia.com/gpu": "2"})
    workers = [{"name": "workers", "replicas": 1, "template": {"spec": {"template": {"spec": gpus}}}}]
    step = {"metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}}
    node = {"name": "node", "template": {**step, "spec": {"template": {"spec": named(gpus, "node")}}}}
    runtime = {"mlPolicy": {"numNodes": 1, "torch": {}}, "template": {"spec": {"replicatedJobs": [node]}}}
    yield made("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime", "torch", spec=runtime)
    head = {"rayStartParams": {}, "template": {"spec": named(pod("1", {}), "head")}}
    worker = {"groupName": "w", "replicas": 1, "minReplicas": 1, "maxReplicas": 1, "rayStartParams": {}}
    groups = [{**worker, "template": {"spec": named(gpus, "worker")}}]
    ray = {"rayVersion": "2.52.0", "headGroupSpec": head, "workerGroupSpecs": groups}
    for number in range(3):
        spec: dict[str, Any] = {"suspend": True, "replicatedJobs": workers}
        yield made("jobset.x-k8s.io/v1alpha2", "JobSet", f"set-{number}", "vision", queue, spec=spec)
        spec = {"runtimeRef": {"name": "torch"}, "suspend": True, "trainer": {"numNodes": 2, "image": "any"}}
        yield made("trainer.kubeflow.org/v1alpha1", "TrainJob", f"tj-{number}", "vision", queue, spec=spec)
        spec = {"entrypoint": "a", "shutdownAfterJobFinishes": True, "suspend": True, "rayClusterSpec": ray}
        yield made("ray.io/v1", "RayJob", f"ray-{number}", "vision", queue, spec=spec)
        template = {"size": 2, "workerTemplate": {"spec": {**gpus, "restartPolicy": "Always"}}}
        spec = {"replicas": 1, "leaderWorkerTemplate": template}
        yield made("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", f"lws-{number}", "vision", queue, spec=spec)
        volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "elsewhere"}}]
        yield made("v1", "Pod", f"far-{number}", "vision", spec={**pod("1", {}), "volumes": volumes})
    zone = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["us-east-1f"]}
    term = {"required": {"nodeSelectorTerms": [{"matchExpressions": [zone]}]}}
    common = {"accessModes": ["ReadWriteOnce"], "storageClassName": ""}
    claim = {"namespace": "vision", "name": "elsewhere"}
    disk = {"driver": "ebs.csi.aws.com", "volumeHandle": "vol-0123456789abcdef0"}
    volume = {**common, "capacity": {"storage": "9Gi"}, "csi": disk, "claimRef": claim, "nodeAffinity": term}
    yield made("v1", "PersistentVolume", "far", spec=volume)
    wanted = {**common, "volumeName": "far", "resources": {"requests": {"storage": "9Gi"}}}
    yield made("v1", "PersistentVolumeClaim", "elsewhere", "vision", spec=wanted)


def named(spec: dict[str, Any], name: str) -> dict[str, Any]:
    """The spec of a pod, whose container has another name."""
    return {**spec, "containers": [{**spec["containers"][0], "name": name}]}


def job(name: str, queue: str, gpus: int, space: str = "vision", selector: dict[str, str] | None = None) -> Object:
    limits = {"nvidia.com/gpu": str(gpus)} if gpus else {}
    spec = {**pod("1" if gpus else "2", limits), "nodeSelector": selector or {}}
    labels = {"kueue.x-k8s.io/queue-name": queue} if queue else {}
    made_of = {"template": {"spec": spec}, "suspend": bool(queue), "backoffLimit": 0}
    return made("batch/v1", "Job", name, space, spec=made_of, labels=labels)


def pod(cpu: str, limits: dict[str, str]) -> dict[str, Any]:
    resources = {"requests": {"cpu": cpu}, "limits": limits}
    return {"restartPolicy": "Never", "containers": [{"name": "main", "image": "any", "resources": resources}]}


STATUS: Final[dict[str, Any]] = {
    "capacity": (ROOM := {"cpu": "32", "memory": "128Gi", "pods": "110", "nvidia.com/gpu": "4"}),
    "allocatable": ROOM,
    "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
    "nodeInfo": {"kubeletVersion": "v1.35.2-eks-1"},
}


def made(version: str, kind: str, name: str, space: str = "", labels: Any = None, **more: Any) -> Object:
    metadata = {"name": name, "labels": labels or {}, **({"namespace": space} if space else {})}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **more}

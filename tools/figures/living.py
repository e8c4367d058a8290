"""A window of a trace, run by the real controllers in the living sandbox."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Ref
from slipway.replay.plan import Plan
from slipway.replay.steps import HOUR
from slipway.trial.run import submit
from spec.errors import SlipwayError
from spec.jobs import KUEUE_API

POLL: Final = 0.5  # Seconds between two looks at the cluster. Times are those of its objects, which have whole seconds.
_IMAGE: Final = "registry.example.com/training:1.0.0"
_CLAIM: Final = "checkpoints"  # the claim of a team's namespace that a pod on a Spot node must mount
_JOB: Final = "batch.kubernetes.io/job-name"
_LIMIT: Final = 86_400


@dataclass(kw_only=True)
class Side:
    """What became of a window, in the sandbox or in the replay. Times are in seconds after its start."""

    submitted: dict[str, float] = field(default_factory=dict)  # when each job was submitted, by its name in the plan
    admitted: dict[str, float] = field(default_factory=dict)  # when Kueue admitted it first
    started: dict[str, float] = field(default_factory=dict)  # when all of its pods ran first
    preemptions: int = 0
    gpu_hours: float = 0.0  # GPU hours of running jobs
    node_hours: float = 0.0  # hours of nodes from their launch
    usd: float = 0.0  # their price


def manifest(job: Mapping[str, Any]) -> dict[str, Any]:
    """A job of the engine's input as a Job; its pods run for the job's duration in the sandbox."""
    (pods,) = job["podSets"]
    notes = {"sandbox.slipway/duration": f"{job['duration']:.0f}s"}
    if pods["topologyRequest"]["preferred"]:
        notes["kueue.x-k8s.io/podset-preferred-topology"] = pods["topologyRequest"]["preferred"]
    container = {
        "name": "main",
        "image": _IMAGE,
        "resources": {"requests": pods["requests"], "limits": pods["requests"]},
        "volumeMounts": [{"name": _CLAIM, "mountPath": f"/{_CLAIM}"}],
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": job["name"],
            "namespace": job["namespace"],
            "labels": {
                "kueue.x-k8s.io/queue-name": job["queue"],
                "kueue.x-k8s.io/priority-class": job["priorityClass"],
            },
        },
        "spec": {
            "activeDeadlineSeconds": _LIMIT,
            "backoffLimit": 3,
            "ttlSecondsAfterFinished": _LIMIT,
            "parallelism": pods["count"],
            "completions": pods["count"],
            "template": {
                "metadata": {"annotations": notes},
                "spec": {
                    "restartPolicy": "Never",
                    "priorityClassName": job["priorityClass"],
                    "nodeSelector": pods["nodeSelector"],
                    "affinity": pods["affinity"] or {},
                    "tolerations": pods["tolerations"],
                    "containers": [container],
                    "volumes": [{"name": _CLAIM, "persistentVolumeClaim": {"claimName": _CLAIM}}],
                },
            },
        },
    }


@dataclass
class Window:
    """Submits the jobs of a plan at their times, and looks at the cluster until the end."""

    client: KubeClient  # the cluster, with an administrator's rights
    plan: Plan
    seconds: float  # its length
    say: Callable[[str], None]  # reports progress
    side: Side = field(default_factory=Side, init=False)
    _began: float = field(default=0.0, init=False)
    _names: set[str] = field(default_factory=set, init=False)
    _nodes: dict[str, tuple[float, float]] = field(default_factory=dict, init=False)
    _pods: dict[str, tuple[str, float, float]] = field(default_factory=dict, init=False)

    def run(self) -> Side:
        """What became of the jobs, which are removed at the end."""
        prices = {
            (str(pool["name"]), str(one["instanceType"]), str(one["capacityType"])): float(one["usdPerHour"])
            for pool in self.plan.document["pools"]
            for one in pool["offerings"]
        }
        if any(self._claims(prices)):
            msg = "the sandbox has nodes of the stack's pools: wait until they are removed, or start with a new sandbox"
            raise SlipwayError(msg)
        waiting = sorted(self.plan.document["jobs"], key=lambda one: (one["submitted"], one["name"]))
        self._began = time.time()
        try:
            while (passed := time.time() - self._began) < self.seconds:
                while waiting and waiting[0]["submitted"] <= passed:
                    self._submit(waiting.pop(0))
                self._look(prices)
                time.sleep(POLL)
            self._look(prices)
        finally:
            self._remove()
        self._sum(self._began + self.seconds)
        return self.side

    def _submit(self, job: Mapping[str, Any]) -> None:
        self._names.add(job["name"])
        refusal = submit(self.client, manifest(job), job["namespace"], "")
        if refusal:
            msg = f"the cluster refuses {job['name']}: {refusal}"
            raise SlipwayError(msg)

    def _look(self, prices: Mapping[tuple[str, str, str], float]) -> None:
        """Keep what the cluster says now: objects of a job that is preempted are gone later."""
        for claim, price in self._claims(prices):
            self._nodes[claim["metadata"]["uid"]] = (_time(claim["metadata"]["creationTimestamp"]), price)
        for job in self.client.list(self.client.discovery.find("batch/v1", "Job")):
            if (name := str(job["metadata"]["name"])) in self._names:
                self.side.submitted[name] = _time(job["metadata"]["creationTimestamp"]) - self._began
        for pod in self.client.list(self.client.discovery.find("v1", "Pod"), selector=_JOB):
            name = pod["metadata"]["labels"][_JOB]
            ran = _ran(pod, time.time()) if name in self._names else None
            if ran is not None:
                self._pods[pod["metadata"]["uid"]] = (name, *ran)
        preemptions = 0
        for workload in self.client.list(self.client.discovery.find(KUEUE_API, "Workload")):
            owners = workload["metadata"].get("ownerReferences") or [{}]
            name, status = str(owners[0].get("name")), workload.get("status") or {}
            if name not in self._names:
                continue
            for one in status.get("conditions") or ():
                if (one["type"], one["status"]) == ("Admitted", "True"):
                    self.side.admitted.setdefault(name, _time(one["lastTransitionTime"]) - self._began)
            evictions = (status.get("schedulingStats") or {}).get("evictions") or ()
            preemptions += sum(int(one["count"]) for one in evictions if one["reason"] == "Preempted")
        self.side.preemptions = max(self.side.preemptions, preemptions)

    def _sum(self, end: float) -> None:
        """Times and hours from what was kept, until the end."""
        first: dict[str, list[float]] = {}
        for name, began, ended in sorted(self._pods.values(), key=lambda one: one[1]):
            first.setdefault(name, []).append(began - self._began)
            planned = self.plan.jobs[name]
            self.side.gpu_hours += planned.gpus / planned.job.pods * max(0.0, min(ended, end) - began) / HOUR
        for name, moments in first.items():
            pods = self.plan.jobs[name].job.pods
            if len(moments) >= pods and moments[pods - 1] <= self.seconds:
                self.side.started[name] = moments[pods - 1]
        for began, price in self._nodes.values():
            hours = max(0.0, end - began) / HOUR
            self.side.node_hours += hours
            self.side.usd += hours * price

    def _claims(self, prices: Mapping[tuple[str, str, str], float]) -> Iterator[tuple[dict[str, Any], float]]:
        """The nodes that Karpenter has launched in the plan's pools, with their prices."""
        for claim in self.client.list(self.client.discovery.find("karpenter.sh/v1", "NodeClaim")):
            labels = claim["metadata"].get("labels") or {}
            kind = labels.get("node.kubernetes.io/instance-type", "")
            key = (labels.get("karpenter.sh/nodepool", ""), kind, labels.get("karpenter.sh/capacity-type", ""))
            if kind and key in prices:
                yield claim, prices[key]

    def _remove(self) -> None:
        for job in self.plan.document["jobs"]:
            if job["name"] in self._names:
                self.client.delete(Ref("batch/v1", "Job", job["name"], job["namespace"]), "Foreground")


def _time(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def _ran(pod: Mapping[str, Any], now: float) -> tuple[float, float] | None:
    """From when to when the container of a pod ran; until now if it still runs."""
    for container in (pod.get("status") or {}).get("containerStatuses") or ():
        state = container.get("state") or {}
        if "terminated" in state:
            return _time(state["terminated"]["startedAt"]), _time(state["terminated"]["finishedAt"])
        if "running" in state:
            return _time(state["running"]["startedAt"]), now
    return None

"""A window of a trace, run by the real controllers in the living sandbox."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Ref
from slipway.replay.plan import Plan
from slipway.replay.steps import HOUR
from slipway.trial.run import submit
from slipway.why.bundle import is_true
from spec.errors import SlipwayError
from spec.jobs import KUEUE_API

POLL: Final = 0.5
"""Seconds between two looks at the cluster: what it says of a moment is later by that at most."""
_IMAGE: Final = "registry.example.com/training:1.0.0"
_CLAIM: Final = "checkpoints"
"""The claim of a team's namespace that a pod on a Spot node must mount."""
_JOB: Final = "batch.kubernetes.io/job-name"
_LIMIT: Final = 86_400


@dataclass(kw_only=True)
class Side:
    """What became of a window, in the sandbox or in the replay. Times are in seconds after its start.

    Attributes:
        submitted: When each job was submitted, by its name in the plan.
        admitted: When Kueue admitted it first.
        started: When all of its pods ran first.
        preemptions: Number of preemptions.
        gpu_hours: GPU hours of running jobs.
        node_hours: Hours of nodes from their launch.
        usd: Their price.
    """

    submitted: dict[str, float] = field(default_factory=dict)
    admitted: dict[str, float] = field(default_factory=dict)
    started: dict[str, float] = field(default_factory=dict)
    preemptions: int = 0
    gpu_hours: float = 0.0
    node_hours: float = 0.0
    usd: float = 0.0


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
                    "tolerations": pods["tolerations"],
                    "containers": [container],
                    "volumes": [{"name": _CLAIM, "persistentVolumeClaim": {"claimName": _CLAIM}}],
                },
            },
        },
    }


@dataclass
class Window:
    """Submits the jobs of a plan at their times, and looks at the cluster until the end.

    Attributes:
        client: The cluster, with an administrator's rights.
        plan: The window.
        seconds: Its length.
        say: Reports progress.
    """

    client: KubeClient
    plan: Plan
    seconds: float
    say: Callable[[str], None]
    side: Side = field(default_factory=Side, init=False)

    def run(self) -> Side:
        """What became of the jobs, which are removed at the end.

        Raises:
            SlipwayError: The cluster has nodes of the pools already, or refuses a job.
        """
        prices = {
            (str(pool["name"]), str(one["instanceType"]), str(one["capacityType"])): float(one["usdPerHour"])
            for pool in self.plan.document["pools"]
            for one in pool["offerings"]
        }
        if any(self._claims(prices)):
            msg = "the sandbox has nodes of the stack's pools: wait until they are removed, or start with a new sandbox"
            raise SlipwayError(msg)
        waiting = sorted(self.plan.document["jobs"], key=lambda one: (one["submitted"], one["name"]))
        began = last = time.monotonic()
        try:
            while (now := time.monotonic()) - began < self.seconds:
                while waiting and waiting[0]["submitted"] <= now - began:
                    self._submit(waiting.pop(0), began)
                self._look(began, (now - last) / HOUR, prices)
                last = now
                time.sleep(POLL)
        finally:
            self._remove()
        return self.side

    def _submit(self, job: Mapping[str, Any], began: float) -> None:
        refusal = submit(self.client, manifest(job), job["namespace"], "")
        if refusal:
            msg = f"the cluster refuses {job['name']}: {refusal}"
            raise SlipwayError(msg)
        self.side.submitted[job["name"]] = time.monotonic() - began

    def _look(self, began: float, hours: float, prices: Mapping[tuple[str, str, str], float]) -> None:
        for price in self._claims(prices):
            self.side.node_hours += hours
            self.side.usd += price * hours
        running = self._running()
        at = time.monotonic() - began
        for name in running:
            self.side.started.setdefault(name, at)
            self.side.gpu_hours += self.plan.jobs[name].gpus * hours
        preemptions = 0
        for workload in self.client.list(self.client.discovery.find(KUEUE_API, "Workload")):
            owners = workload["metadata"].get("ownerReferences") or [{}]
            name = str(owners[0].get("name"))
            if name in self.side.submitted:
                if is_true(workload, "Admitted"):
                    self.side.admitted.setdefault(name, at)
                statistics = (workload.get("status") or {}).get("schedulingStats") or {}
                preemptions += sum(
                    int(one["count"]) for one in statistics.get("evictions") or () if one["reason"] == "Preempted"
                )
        self.side.preemptions = max(self.side.preemptions, preemptions)

    def _running(self) -> list[str]:
        """Jobs whose pods all run."""
        count = dict.fromkeys(self.side.submitted, 0)
        for pod in self.client.list(self.client.discovery.find("v1", "Pod"), selector=_JOB):
            name = pod["metadata"]["labels"][_JOB]
            leaves = pod["metadata"].get("deletionTimestamp")
            if name in count and (pod.get("status") or {}).get("phase") == "Running" and not leaves:
                count[name] += 1
        return [name for name, pods in count.items() if pods and pods == self.plan.jobs[name].job.pods]

    def _claims(self, prices: Mapping[tuple[str, str, str], float]) -> Iterator[float]:
        """Prices of the nodes that Karpenter has launched in the plan's pools."""
        for claim in self.client.list(self.client.discovery.find("karpenter.sh/v1", "NodeClaim")):
            labels = claim["metadata"].get("labels") or {}
            kind = labels.get("node.kubernetes.io/instance-type", "")
            key = (labels.get("karpenter.sh/nodepool", ""), kind, labels.get("karpenter.sh/capacity-type", ""))
            if kind and key in prices:
                yield prices[key]

    def _remove(self) -> None:
        for job in self.plan.document["jobs"]:
            if job["name"] in self.side.submitted:
                self.client.delete(Ref("batch/v1", "Job", job["name"], job["namespace"]), "Foreground")

"""A Job, a JobSet and a TrainJob, as typed components and as YAML: preempted, without their nodes, at their end."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from components.workloads import (
    DistributedTrainingArgs,
    Pod,
    Resources,
    TrainingJobArgs,
    WorkloadManifests,
    distributed_training,
    training_job,
)
from components.workloads.distributed import Kind
from infra.target import target_from_file
from sandbox.kubernetes.client import ApiError, KubeClient
from sandbox.kubernetes.objects import Ref
from sandbox.nodes.instances import INTERRUPTION
from slipway.trial.run import submit
from slipway.why.answer import Layer
from slipway.why.bundle import Bundle, Object, conditions, is_true
from slipway.why.collect import survey
from slipway.why.explain import explain
from slipway.why.manifests import DryRun
from tests.slipway.why.wrong import namespace_of, objects_of
from tests.support.patience import SECONDS

STACK: Final = "dev"
DURATION: Final = "sandbox.slipway/duration"
LONG: Final = "7200s"
LOW: Final = "experiment"
"""Priority of every workload, below that of what preempts it."""
HIGH: Final = "production-training"
IMAGE: Final = "registry.example.com/training:1.0.0"
GPU: Final = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
TAKEN: Final[Mapping[tuple[str, str], tuple[int, Mapping[str, str]]]] = {
    ("vision", "cpu"): (5, {"cpu": "12300m", "memory": "2Gi"}),
    ("vision", "a100"): (1, {"cpu": "1", "memory": "2Gi", "nvidia.com/mig-1g.5gb": "35"}),
    ("language", "h100"): (2, {"cpu": "8", "memory": "100Gi", "nvidia.com/gpu": "1"}),
}
"""Pods that leave a team no quota of a pool, borrowed quota included: Kueue preempts no more than it must."""
POLL: Final = 0.5


def _args(pool: str, cpu: str = "1", memory: str = "2Gi", **more: Any) -> dict[str, Any]:
    resources = Resources(cpu=cpu, memory=memory, **more)
    pod = Pod(image=IMAGE, pools=(pool,), resources=resources, command=("python", "train.py"))
    return {"pod": pod, "deadline_seconds": 3600, "priority": LOW}


def _nodes(name: str, kind: Kind, nodes: int, **args: Any) -> WorkloadManifests:
    return distributed_training(name, DistributedTrainingArgs(kind=kind, nodes=nodes, **args))


TYPED: Final[Mapping[str, tuple[str, Callable[..., WorkloadManifests]]]] = {
    "job": ("Job", lambda name, target: training_job(
        name, TrainingJobArgs(target=target, **_args("a100", mig={"1g.5gb": 1})))),
    "jobset": ("JobSet", lambda name, target: _nodes(name, "JobSet", 2, target=target, **_args("cpu"))),
    "trainjob-1": ("TrainJob", lambda name, target: _nodes(
        name, "TrainJob", 1, target=target, **_args("h100", "8", "100Gi", gpus=1))),
}  # fmt: skip
"""Kind of the object that a user watches, and the component, by the file in tests/slipway/why/workloads."""
WHOLE: Final = {("jobset", "typed"), ("trainjob-1", "typed"), ("trainjob-1", "yaml")}
"""Those of which the loss of one pod restarts all."""


@dataclass
class Life:
    """One workload in one form, `typed` or `yaml`.

    Attributes:
        done: Seconds that each step took.
        failed: Why a step did not come about; nothing follows then.
        gone: UIDs of pods that the last step has ended.
    """

    name: str
    form: str
    objects: list[dict[str, Any]]
    done: dict[str, float] = field(default_factory=dict)
    failed: str = ""
    gone: frozenset[str] = frozenset()

    @property
    def namespace(self) -> str:
        return namespace_of(self.name)

    @property
    def subject(self) -> Ref:
        """The object that a user watches."""
        kind, _ = TYPED[self.name]
        (found,) = [each for each in self.objects if each["kind"] == kind]
        return self.ref(found)

    def ref(self, manifest: Mapping[str, Any]) -> Ref:
        return Ref(manifest["apiVersion"], manifest["kind"], manifest["metadata"]["name"], self.namespace)

    def runs(self, bundle: Bundle) -> bool:
        """Whether all its pods run, none of them one that a step has ended."""
        running = [pod for pod in bundle.pods if _ready(pod)]
        if any(_uid(pod) in self.gone for pod in running):
            return False
        return len(running) == len(_alive(bundle)) == (2 if self.name == "jobset" else 1)

    def text(self) -> str:
        steps = ", ".join(f"{step} {seconds:.0f} s" for step, seconds in self.done.items())
        return f"{self.name} {self.form}: {steps}{f'; {self.failed}' if self.failed else ''}"


@dataclass(kw_only=True)
class Wave:
    """All of them at once."""

    client: KubeClient
    lives: Sequence[Life]

    def run(self) -> None:
        """Through all steps; nothing is left."""
        try:
            self._begin()
            self._preempt()
            self._take_nodes()
            self._end()
        finally:
            self._delete([life.subject for life in self.lives])

    def _begin(self) -> None:
        for life in self.lives:
            for manifest in life.objects:
                refused = submit(self.client, lasting(manifest), life.namespace, self._member(life.namespace))
                if refused:
                    life.failed = f"{manifest['kind']} is refused: {refused}"
                    break
        self._until("runs", Life.runs)

    def _preempt(self) -> None:
        for life, bundle in self._bundles():
            life.gone = frozenset(map(_uid, bundle.pods))
        refs = []
        for (namespace, pool), (pods, resources) in TAKEN.items():
            manifest = _taking(pool, pods, resources)
            refused = submit(self.client, manifest, namespace, self._member(namespace))
            assert not refused, f"{manifest['metadata']['name']} is refused: {refused}"
            refs.append(Ref("batch/v1", "Job", manifest["metadata"]["name"], namespace))
        try:
            self._until("preempted", _is_preempted)
        finally:
            left = self._delete(refs)
        assert not left, f"not removed: {left}"
        self._until("resumed", Life.runs)

    def _take_nodes(self) -> None:
        """EC2 takes a node of each, without a notice."""
        bundles = self._bundles()
        nodes = {str(_alive(bundle)[0]["spec"]["nodeName"]) for life, bundle in bundles if not life.failed}
        for life, bundle in bundles:
            lost = {_uid(pod) for pod in bundle.pods if pod["spec"].get("nodeName") in nodes}
            all_of_it = (life.name, life.form) in WHOLE and lost
            life.gone = frozenset(map(_uid, bundle.pods)) if all_of_it else frozenset(lost)
        for node in sorted(nodes):
            now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            self.client.merge(Ref("v1", "Node", node), {"metadata": {"annotations": {INTERRUPTION: now}}})
        self._until("without its node", Life.runs)

    def _end(self) -> None:
        """What its containers do is done."""

        def ended(_: Life, bundle: Bundle) -> bool:
            for pod in _alive(bundle):
                try:
                    self.client.merge(Ref.of(pod), {"metadata": {"annotations": {DURATION: "0s"}}})
                except ApiError as error:
                    if not error.not_found:
                        raise
            finished = explain(bundle).part.layer is Layer.FINISHED
            return finished and all(is_true(each, "Finished") for each in bundle.workloads)

        self._until("ended", ended)

    def _left(self) -> Iterator[Life]:
        return (life for life in self.lives if not life.failed)

    def _member(self, namespace: str) -> str:
        return DryRun(self.client, namespace).member

    def _bundles(self) -> list[tuple[Life, Bundle]]:
        left = list(self._left())
        read = {namespace: survey(self.client, namespace) for namespace in {life.namespace for life in left}}
        found = []
        for life in left:
            subject = self.client.get(life.subject)
            if subject is None:
                life.failed = "it is gone"
            else:
                found.append((life, read[life.namespace].of(subject)))
        return found

    def _until(self, step: str, condition: Callable[[Life, Bundle], bool]) -> None:
        """Wait until a condition holds for each; those for which it does not have failed, with the answer of `why`."""
        began = time.monotonic()
        while any(step not in life.done for life in self._left()):
            elapsed = time.monotonic() - began
            for life, bundle in self._bundles():
                if step in life.done:
                    continue
                if condition(life, bundle):
                    life.done[step] = elapsed
                elif elapsed > SECONDS:
                    life.failed = f"not {step} after {elapsed:.0f} s: {explain(bundle).text()}"
            time.sleep(POLL)

    def _delete(self, refs: Sequence[Ref]) -> list[Ref]:
        """Delete objects with what is below them; what is left when the time is over."""
        for ref in refs:
            self.client.delete(ref, "Foreground")
        deadline = time.monotonic() + SECONDS
        left = list(refs)
        while (left := [ref for ref in left if self.client.get(ref) is not None]) and time.monotonic() < deadline:
            time.sleep(POLL)
        return left


def lived(client: KubeClient, stacks: Path) -> list[Life]:
    """What became of each of them on a stack that is up."""
    lives = []
    for name, (_, typed) in TYPED.items():
        target = target_from_file(STACK, stacks, namespace=namespace_of(name))
        made = [dict(each.manifest) for each in typed(f"{name}-typed", target=target).values()]
        lives += [Life(name, "typed", made), Life(name, "yaml", objects_of(name))]
    Wave(client=client, lives=lives).run()
    return lives


def lasting(manifest: dict[str, Any]) -> dict[str, Any]:
    """A manifest whose pods run until a test ends them: an annotation in every pod template."""
    found: dict[str, Any] = _lasting(manifest)
    if manifest["kind"] == "TrainJob":
        template = {"metadata": {"annotations": {DURATION: LONG}}}
        job = {"name": "node", "template": {"spec": {"template": template}}}
        patch = {"manager": "tests.example.com/duration",
                 "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [job]}}}}  # fmt: skip
        found["spec"] = {**found["spec"], "runtimePatches": [*(found["spec"].get("runtimePatches") or ()), patch]}
    return found


def _lasting(value: Any) -> Any:
    if isinstance(value, list):
        return [_lasting(each) for each in value]
    if not isinstance(value, dict):
        return value
    found = {key: _lasting(each) for key, each in value.items()}
    template = found.get("template")
    if isinstance(template, dict) and "containers" in (template.get("spec") or {}):
        metadata = template.get("metadata") or {}
        annotations = {**(metadata.get("annotations") or {}), DURATION: LONG}
        found["template"] = {**template, "metadata": {**metadata, "annotations": annotations}}
    return found


def _taking(pool: str, pods: int, resources: Mapping[str, str]) -> dict[str, Any]:
    limits = {key: value for key, value in resources.items() if key != "cpu"}
    container = {"name": "main", "image": IMAGE, "resources": {"requests": dict(resources), "limits": limits}}
    spec = {
        "restartPolicy": "Never", "priorityClassName": HIGH, "nodeSelector": {"platform.slipway/pool": pool},
        "tolerations": [GPU] if pool != "cpu" else [], "containers": [container],
    }  # fmt: skip
    labels = {"kueue.x-k8s.io/queue-name": "default", "kueue.x-k8s.io/priority-class": HIGH}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": f"takes-{pool}", "labels": labels},
        "spec": {
            "parallelism": pods, "completions": pods, "activeDeadlineSeconds": 3600, "backoffLimit": 1,
            "ttlSecondsAfterFinished": 600,
            "template": {"metadata": {"annotations": {DURATION: LONG}}, "spec": spec},
        },
    }  # fmt: skip


def _uid(pod: Object) -> str:
    return str(pod["metadata"]["uid"])


def _alive(bundle: Bundle) -> list[Object]:
    """Pods that have not ended."""
    return [pod for pod in bundle.pods if (pod.get("status") or {}).get("phase") in ("Pending", "Running")]


def _ready(pod: Object) -> bool:
    return (pod.get("status") or {}).get("phase") == "Running" and is_true(pod, "Ready")


def _is_preempted(_: Life, bundle: Bundle) -> bool:
    """Whether Kueue has taken its quota for another, and its pods are gone."""
    if any(_ready(pod) for pod in bundle.pods):
        return False
    states = [conditions(each) for each in bundle.workloads]
    return any(
        (found.get("Evicted") or {}).get("reason") == "Preempted"
        or (found.get("Preempted") or {}).get("status") == "True"
        for found in states
    )

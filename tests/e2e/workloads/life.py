"""One workload from its creation to its end, and what became of it at each step."""

from dataclasses import dataclass, field
from typing import Any, Final

from sandbox.kubernetes.client import ApiError, KubeClient
from sandbox.kubernetes.objects import Ref
from slipway.why.answer import Layer
from slipway.why.bundle import Bundle, Object, conditions, is_true
from slipway.why.collect import Survey
from slipway.why.explain import explain
from tests.e2e.workloads.rows import Row

DURATION: Final = "sandbox.slipway/duration"
LONG: Final = "7200s"


@dataclass
class Life:
    """One row in one form."""

    row: Row  # the row
    form: str  # `typed` or `yaml`
    objects: list[dict[str, Any]]  # its manifests, the subject last
    done: dict[str, float] = field(default_factory=dict)  # seconds that each step took
    failed: str = ""  # why a step did not come about; nothing follows then
    gone: frozenset[str] = frozenset()
    """Pods that the last step has ended."""

    @property
    def name(self) -> str:
        """`jobset, yaml`."""
        return f"{self.row.name}, {self.form}"

    @property
    def subject(self) -> Ref:
        """The object that a user watches."""
        (found,) = [each for each in self.objects if each["kind"] == self.row.subject]
        return Ref(found["apiVersion"], found["kind"], found["metadata"]["name"], self.row.namespace)

    def bundle(self, client: KubeClient, read: Survey) -> Bundle | None:
        """What was read about it; None if it is gone."""
        found = client.get(self.subject)
        return None if found is None else read.of(found)

    # -- states --------------------------------------------------------------------------------------------------------

    def runs(self, bundle: Bundle) -> bool:
        """Whether all its pods run, none of them one that a step has ended."""
        running = [pod for pod in bundle.pods if _ready(pod)]
        if any(uid_of(pod) in self.gone for pod in running):
            return False
        return len(running) == self.row.pods == len(alive(bundle))

    def preempted(self, bundle: Bundle) -> bool:
        """Whether Kueue has taken its quota for another, and its pods are gone.

        A plain pod, as those of a Deployment, is deleted with its Workload; the next one waits.
        """
        if any(_ready(pod) for pod in bundle.pods):
            return False
        if any(_preempted(each) for each in bundle.workloads):
            return True
        pods = alive(bundle)
        return bool(pods) and all(pod["spec"].get("schedulingGates") for pod in pods)

    def finished(self, bundle: Bundle) -> bool:
        """Whether it has succeeded, and Kueue knows it."""
        ended = explain(bundle).part.layer is Layer.FINISHED
        return ended and all(is_true(each, "Finished") for each in bundle.workloads)

    def ends(self, client: KubeClient, bundle: Bundle) -> None:
        """What its containers do is done."""
        for pod in alive(bundle):
            if self.row.ends in pod["metadata"]["name"]:
                try:
                    client.merge(Ref.of(pod), {"metadata": {"annotations": {DURATION: "0s"}}})
                except ApiError as error:
                    if not error.not_found:
                        raise

    def text(self) -> str:
        """A line of the table."""
        steps = ", ".join(f"{step} {seconds:.0f} s" for step, seconds in self.done.items())
        return f"{self.row.stack} {self.name}: {steps}{f'; {self.failed}' if self.failed else ''}"


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


def uid_of(pod: Object) -> str:
    """Its UID."""
    return str(pod["metadata"]["uid"])


def alive(bundle: Bundle) -> list[Object]:
    """Pods that have not ended."""
    return [pod for pod in bundle.pods if (pod.get("status") or {}).get("phase") in ("Pending", "Running")]


def _ready(pod: Object) -> bool:
    return (pod.get("status") or {}).get("phase") == "Running" and is_true(pod, "Ready")


def _preempted(workload: Object) -> bool:
    found = conditions(workload)
    evicted = found.get("Evicted") or {}
    return evicted.get("reason") == "Preempted" or (found.get("Preempted") or {}).get("status") == "True"

"""All rows of a wave at once: created, preempted, without their nodes, at their end."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from components.workloads import Target
from infra.target import target_from_file
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Ref
from sandbox.nodes.instances import INTERRUPTION
from slipway.trial.run import submit
from slipway.why.bundle import Bundle
from slipway.why.collect import survey
from slipway.why.explain import explain
from slipway.why.manifests import DryRun
from tests.e2e.workloads.life import Life, alive, lasting, uid_of
from tests.e2e.workloads.preemptors import preemptors
from tests.e2e.workloads.rows import Row
from tests.support.patience import SECONDS

POLL: Final = 0.5
Condition = Callable[[Life, Bundle], bool]


@dataclass(kw_only=True)
class Wave:
    """Rows of one stack that run at once."""

    client: KubeClient  # the cluster, with an administrator's rights
    lives: Sequence[Life]  # each row in the forms that run in this wave
    seconds: float = SECONDS  # limit of a step
    say: Callable[[str], None] = lambda _: None  # reports how long each step took

    def run(self) -> None:
        """All of them through all steps; nothing is left."""
        try:
            self._begin()
            self._preempt()
            self._take_nodes()
            self._end()
        finally:
            self._remove()

    # -- steps ---------------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        for life in self.lives:
            member = self._member(life.row.namespace)
            for manifest in life.objects:
                refused = submit(self.client, lasting(manifest), life.row.namespace, member)
                if refused:
                    life.failed = f"{manifest['kind']} is refused: {refused}"
                    break
        self._until("runs", Life.runs)

    def _preempt(self) -> None:
        self._remember(lambda _: True)
        lives = list(self._left())
        taking = [(row, each) for row in {one.row.namespace: one.row for one in lives}.values()
                  for each in preemptors(row.stack, row.namespace, [one.row for one in lives])]  # fmt: skip
        refs = []
        for row, manifest in taking:
            refused = submit(self.client, manifest, row.namespace, self._member(row.namespace))
            assert not refused, f"{manifest['metadata']['name']} is refused: {refused}"
            refs.append(Ref("batch/v1", "Job", manifest["metadata"]["name"], row.namespace))
        try:
            self._until("preempted", Life.preempted)
        finally:
            left = self._delete(refs)
        assert not left, f"not removed: {left}"
        self._until("resumed", Life.runs)

    def _take_nodes(self) -> None:
        """EC2 takes a node of each row, without a notice."""
        bundles = self._bundles()
        nodes = {str(alive(bundle)[0]["spec"]["nodeName"]) for life, bundle in bundles if not life.failed}
        for life, bundle in bundles:
            lost = {uid_of(pod) for pod in bundle.pods if pod["spec"].get("nodeName") in nodes}
            life.gone = (
                frozenset(uid_of(pod) for pod in bundle.pods)
                if life.form in life.row.whole and lost
                else frozenset(lost)
            )
        for node in sorted(nodes):
            now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            self.client.merge(Ref("v1", "Node", node), {"metadata": {"annotations": {INTERRUPTION: now}}})
        self._until("without its node", Life.runs)

    def _end(self) -> None:
        def ended(life: Life, bundle: Bundle) -> bool:
            life.ends(self.client, bundle)
            return life.finished(bundle)

        self._until("ended", ended, [life for life in self._left() if life.row.ends is not None])

    def _remove(self) -> None:
        """The jobs first: Kueue's webhook reads the TrainingRuntime of a TrainJob that is being deleted."""
        others = [
            Ref(each["apiVersion"], each["kind"], each["metadata"]["name"], life.row.namespace)
            for life in self.lives
            for each in life.objects
        ]
        subjects = [life.subject for life in self.lives]
        left = self._delete(subjects) + self._delete([ref for ref in others if ref not in subjects])
        for life in self.lives:
            if life.subject in left:
                life.failed = f"{life.failed}; not removed after {self.seconds:.0f} s"

    # -- what they share -----------------------------------------------------------------------------------------------

    def _left(self) -> Iterator[Life]:
        return (life for life in self.lives if not life.failed)

    def _member(self, namespace: str) -> str:
        return DryRun(self.client, namespace).member

    def _remember(self, which: Callable[[dict[str, Any]], bool]) -> None:
        for life, bundle in self._bundles():
            life.gone = frozenset(uid_of(pod) for pod in bundle.pods if which(dict(pod)))

    def _bundles(self) -> list[tuple[Life, Bundle]]:
        left = list(self._left())
        read = {namespace: survey(self.client, namespace) for namespace in {life.row.namespace for life in left}}
        found = [(life, life.bundle(self.client, read[life.row.namespace])) for life in left]
        for life, bundle in found:
            if bundle is None:
                life.failed = "it is gone"
        return [(life, bundle) for life, bundle in found if bundle is not None]

    def _until(self, step: str, condition: Condition, lives: Iterable[Life] | None = None) -> None:
        """Wait until a condition holds for each; those for which it does not have failed, with the answer of `why`."""
        began = time.monotonic()
        waiting = list(self._left() if lives is None else lives)
        while waiting:
            elapsed = time.monotonic() - began
            for life, bundle in self._bundles():
                if not any(life is each for each in waiting):
                    continue
                if condition(life, bundle):
                    life.done[step] = elapsed
                elif elapsed > self.seconds:
                    life.failed = f"not {step} after {elapsed:.0f} s: {explain(bundle).text()}"
            waiting = [life for life in waiting if step not in life.done and not life.failed]
            time.sleep(POLL)
        self.say(f"{step}: {time.monotonic() - began:.0f} s")

    def _delete(self, refs: Sequence[Ref]) -> list[Ref]:
        """Delete objects with what is below them; what is left when the time is over."""
        for ref in refs:
            self.client.delete(ref, "Foreground")
        deadline = time.monotonic() + self.seconds
        left = list(refs)
        while left := [ref for ref in left if self.client.get(ref) is not None]:
            if time.monotonic() > deadline:
                break
            time.sleep(POLL)
        return left


def waves(client: KubeClient, targets: dict[str, Target], rows: Sequence[Row]) -> list[Life]:
    """Each row in both forms: all waves of a table, one after another."""
    numbered: dict[int, list[Life]] = {}
    for row in rows:
        typed = Life(row, "typed", row.component(targets[row.namespace]))
        numbered.setdefault(row.wave, []).append(typed)
        numbered.setdefault(row.wave + row.apart, []).append(Life(row, "yaml", row.twin()))
    for number in sorted(numbered):
        Wave(client=client, lives=numbered[number]).run()
    return [life for number in sorted(numbered) for life in numbered[number]]


def targets(stack: str, directory: Path, rows: Sequence[Row]) -> dict[str, Target]:
    """Targets by namespace, from a stack file."""
    return {
        namespace: target_from_file(stack, directory, namespace=namespace)
        for namespace in {row.namespace for row in rows}
    }

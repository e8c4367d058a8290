"""What becomes of the wrong variants in a cluster with all controllers: refused by the API server, or held."""

import time
from collections.abc import Mapping, Sequence
from typing import Final

from components.workloads import Target
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Ref
from slipway.trial.run import submit
from slipway.why.answer import Answer, Layer, Part
from slipway.why.collect import survey
from slipway.why.explain import explain
from slipway.why.manifests import DryRun
from slipway.why.refusals import refusal
from tests.e2e.workloads.life import lasting
from tests.e2e.workloads.wrong import Wrong
from tests.support.patience import SECONDS

POLL: Final = 0.5


def of_cluster(client: KubeClient, variants: Sequence[Wrong], targets: Mapping[str, Target]) -> dict[str, Answer]:
    """The answer about each variant, applied at once and removed again; the last one if none is right."""
    return {
        name: answer
        for alone in (False, True)
        for name, answer in _at_once(client, [each for each in variants if each.alone is alone], targets).items()
    }


def _at_once(client: KubeClient, variants: Sequence[Wrong], targets: Mapping[str, Target]) -> dict[str, Answer]:
    found: dict[str, Answer] = {}
    subjects: dict[str, Ref] = {}
    applied: list[Ref] = []
    members = {each.namespace: DryRun(client, each.namespace).member for each in variants}
    try:
        for each in variants:
            for manifest in each.objects():
                message = submit(client, lasting(manifest), each.namespace, members[each.namespace])
                ref = Ref(manifest["apiVersion"], manifest["kind"], manifest["metadata"]["name"], each.namespace)
                if message:
                    part = refusal(message) or Part(layer=Layer.ADMISSION, cause=message, fix="")
                    found[each.name] = Answer(subject=str(ref), part=part, planned=True)
                    break
                applied.append(ref)
                subjects[each.name] = ref
        _watch(client, [each for each in variants if each.name not in found], subjects, targets, found)
    finally:
        for ref in reversed(applied):
            client.delete(ref, "Foreground")
        deadline = time.monotonic() + SECONDS
        while any(client.get(ref) is not None for ref in applied) and time.monotonic() < deadline:
            time.sleep(POLL)
    return found


def _watch(
    client: KubeClient,
    waiting: list[Wrong],
    subjects: Mapping[str, Ref],
    targets: Mapping[str, Target],
    found: dict[str, Answer],
) -> None:
    deadline = time.monotonic() + SECONDS
    while waiting and time.monotonic() < deadline:
        read = {namespace: survey(client, namespace) for namespace in {each.namespace for each in waiting}}
        for each in list(waiting):
            subject = client.get(subjects[each.name])
            if subject is None:
                continue
            answer = explain(read[each.namespace].of(subject, targets[each.namespace]))
            found[each.name] = answer
            if each.cluster.is_said(answer):
                waiting.remove(each)
        time.sleep(POLL)

"""The page of messages: what components say of a workload, and what `slipway why` makes of it.

The texts are the samples of upstream's messages by which the table of `slipway why` is tested; a row of the table has
the first that it is chosen for.
"""

import re
from collections.abc import Iterator
from typing import Final

from slipway.why.table import place, rows, said
from tests.slipway.why.test_messages import ROWS
from tools.lock import ROOT

PAGE: Final = ROOT / "docs" / "messages.md"
HEADINGS: Final = {
    "refusal": "The API server refuses the object",
    "kueue": "Kueue: the condition QuotaReserved of a workload",
    "scheduler": "The scheduler: FailedScheduling",
    "karpenter": "Karpenter: FailedScheduling",
    "ec2": "EC2 refuses a launch: the condition Launched of a NodeClaim",
    "autoscaler": "The Cluster Autoscaler: NotTriggerScaleUp",
    "claim": "A claim for a volume",
    "kubelet": "The kubelet: events of a pod, and reasons of a waiting container",
    "failed": "A job or pod has failed",
}
HEAD: Final = """\
# Messages by their text

Look for a few words of your message. What varies (names, numbers) is of an example. `slipway why` reads the same
messages from the cluster, and answers with the names and numbers of yours: [why](guides/why.md). Kueue's messages about
quota are with [the ML engineers](guides/for-ml-engineers.md#why-is-my-job-waiting), those of the platform's own rules
in [admission](guides/admission.md#the-rules), those of the sandbox in its
[troubleshooting](guides/sandbox.md#troubleshooting). What `slipway check`, the policy pack and components of
`components.workloads` refuse has path, rule, value and fix in its own message. In brackets is the layer that holds the
workload; where it says "for ever", waiting does not help.
"""
LONGEST: Final = 180


def messages() -> str:
    """The page."""
    return "\n".join([HEAD, *("\n".join(_section(*each)) for each in HEADINGS.items()), ""])


def _section(component: str, heading: str) -> Iterator[str]:
    yield f"## {heading}\n"
    samples = list(_samples(component))
    for at, row in enumerate(rows(component)):
        text = next((one for one in samples if place(component, one) == at), "")
        part = said(component, text, dict.fromkeys(("classes", "shared"), "") | {"pod": "POD", "name": "NAME"})
        if text and part is not None:
            helps = ", for ever" if row.never else ""
            yield f"- `{text if len(text) <= LONGEST else f'{text[:LONGEST]} ...'}` ({row.layer}{helps}): {part.fix}"
    yield ""


def _samples(component: str) -> Iterator[str]:
    """Messages of a component, and the clauses of those that consist of several."""
    if component == "refusal":
        for row in rows(component):
            text = re.sub(r"\(\?:([^|)]*)[^)]*\)|^\^", r"\1", row.says.pattern)
            yield re.sub(r"\(\.\*\)", "...", re.sub(r"\((?!\.)[^)]*\)", "NAME", text))
    texts = [" ".join(f"{each.get('reason', '')} {each['text']}".split()) for each in ROWS.get(component, ())]
    whole = [text.removeprefix("Failed to schedule pod, ") for text in texts]
    yield from (*whole, *(clause for text in whole for clause in text.split("; ")))

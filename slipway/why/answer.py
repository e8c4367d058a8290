"""The answer: one sentence that names the layer, the number and the next step, with what it was read from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from textwrap import wrap
from typing import Any, Final

from spec import strict_yaml


class Layer(StrEnum):
    """What holds a workload, in the order in which a workload passes them; the last ones say that nothing does."""

    ADMISSION = "admission"  # the API server refuses the object, or one that a controller makes for it
    CONTROLLER = "controller"  # the controller of the object has not acted on it
    QUOTA = "quota"  # it requests more than a ResourceQuota, a LimitRange or the team's share ever allows
    QUEUE = "queue"  # Kueue does not admit it yet
    SCHEDULER = "scheduler"  # the scheduler finds no node for a pod
    POOL_LIMIT = "pool limit"  # the pool has as many nodes as it may have
    EC2_CAPACITY = "EC2 capacity"  # EC2 has no instances of the pool's types in its zones
    AWS_QUOTA = "AWS quota"  # the account may not have more instances
    NODE = "node initialization"  # a node is being launched for it, or has not become ready
    VOLUME = "volume"  # a claim is missing or not bound, or a volume is not attached or mounted
    IMAGE = "image"  # the image is not pulled
    CONTAINER = "container"  # a container does not start, or ends and is restarted, or is not ready
    FAILED = "failed"
    RUNS = "runs"
    FINISHED = "finished"
    ACCEPTED = "accepted"  # of a file: nothing is known that would hold it
    UNREAD = "not read"  # nothing is known of the state of its kind


NOTHING_HOLDS: Final = frozenset({Layer.RUNS, Layer.FINISHED, Layer.ACCEPTED, Layer.UNREAD})
_WORDS: Final[Mapping[str, Mapping[str, str]]] = strict_yaml.one(
    Path(__file__).with_name("messages.yaml").read_text(encoding="utf-8")
)["layers"]
"""What a sentence says of each layer: that it holds an object, that it holds it for ever, that it would hold one."""


_OF_KINDS: Final = (
    (re.compile(r"\b(?:Fail)?JobSets?\b"), ("jobset", "trainjob")),
    (re.compile(r"\bRay(?:Job|Cluster)s?\b"), ("rayjob", "raycluster", "rayservice")),
    (re.compile(r"\bschedules?\b"), ("cronjob", "cronworkflow", "scheduledworkflow")),
)
"""Words of a clause that is about other kinds than these."""


def fitting(text: str, kind: str) -> str:
    """The text without its clauses on other kinds than the object's: one rule says what it asks of all kinds."""
    others = [words for words, kinds in _OF_KINDS if kind not in kinds]

    def about(clause: str) -> bool:
        return not any(words.search(clause) for words in others)

    def inside(match: re.Match[str]) -> str:
        return f"({'; '.join(filter(about, match[1].split('; ')))})"

    first, *rest = re.split(r"(?<=;) |(?<=\.) (?=[A-Z])", re.sub(r"\(([^()]*; [^()]*)\)", inside, text))
    kept = " ".join([first, *filter(about, rest)])
    return kept.rstrip(";") + ("." if text.endswith(".") and not kept.endswith(".") else "")


@dataclass(frozen=True)
class Evidence:
    """What an answer was read from: `condition PodScheduled of pod/a`, and its text as it is in the cluster."""

    source: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Part:
    """What one layer says: the fields of an answer that it knows."""

    layer: Layer
    cause: str  # what is wrong, with the number; a clause
    fix: str = ""  # what to do next; a clause. Empty if nothing is to be done
    never: bool = False  # whether it would wait for ever: it has to be changed
    numbers: Mapping[str, str] = field(default_factory=dict)
    """The numbers in the cause, by name: `requested`, `limit`, `missing`, ..."""
    evidence: Sequence[Evidence] = ()  # what it was read from

    def seen(self, *evidence: Evidence) -> Part:
        """The same with more evidence."""
        return replace(self, evidence=(*self.evidence, *evidence))


@dataclass(frozen=True, kw_only=True)
class Answer:
    """Why one workload waits, or that it does not."""

    subject: str  # `job/train`, as kubectl writes it
    part: Part  # what the layer that holds it says
    unread: Sequence[str] = ()  # what could not be read, with the reason
    planned: bool = False  # whether the object does not exist yet: its file was read
    changes: Sequence[str] = ()  # what was changed in its file
    lost: Sequence[str] = ()  # what it no longer does because of them
    left: Sequence[str] = ()  # what its author has to change, with the reason

    @property
    def held(self) -> bool:
        """Whether something holds it, or has made it fail."""
        return self.part.layer not in NOTHING_HOLDS

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        part = self.part
        words = _WORDS[part.layer]
        says = words.get("planned" if self.planned else "never" if part.never else "says", words["says"])
        cause = f": {part.cause.rstrip('.')}" if part.cause else ""
        step = f"; next: {part.fix.rstrip('.')}" if part.fix else ""
        return f"{self.subject} {says}{cause}{step}{'' if step.endswith('?') else '.'}"

    def text(self, columns: int = 0, most: int = 0) -> str:
        """The sentence, and below it what it was read from.

        Args:
            columns: Longest line; 0 for lines of any length.
            most: Most lines; 0 for all.
        """
        lines = [self.sentence, *(f"  changed: {one}" for one in self.changes)]
        lines += [f"  this no longer {one}" for one in self.lost]
        lines += [f"  left to its author: {one}" for one in self.left]
        lines += [f"  {one.source}: {self._new(' '.join(one.text.split()))}" for one in self.part.evidence]
        lines += [f"  not read: {one}" for one in self.unread]
        lines = [fitting(one, self.subject.partition("/")[0]) for one in lines]
        if columns:
            wrapped = [wrap(one, columns, subsequent_indent="    ") for one in lines]
            # The sentence ends with the next step.
            lines, most = [part for one in wrapped for part in one], most and max(most, len(wrapped[0]) + 1)
        if 0 < most < len(lines):
            lines = [*lines[: most - 1], f"  {len(lines) - most + 1} more lines: --verbose"]
        return "\n".join(lines)

    def _new(self, text: str) -> str:
        """The evidence without the fix at its end, which the sentence has; it begins with a capital there."""
        fix = self.part.fix[1:].rstrip(".")
        return text.rstrip(".").removesuffix(fix)[:-1].rstrip(" .") if fix and text.rstrip(".").endswith(fix) else text

    def document(self) -> dict[str, Any]:
        """The answer as plain values."""
        return {
            "subject": self.subject,
            "layer": str(self.part.layer),
            "held": self.held,
            "never": self.part.never,
            "sentence": self.sentence,
            "cause": self.part.cause,
            "next": self.part.fix,
            "numbers": dict(self.part.numbers),
            "evidence": [{"source": one.source, "text": one.text} for one in self.part.evidence],
            "notRead": list(self.unread),
            "changes": list(self.changes),
            "lost": list(self.lost),
            "left": list(self.left),
        }

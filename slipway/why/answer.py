"""The answer: one sentence that names the layer, the number and the next step, with what it was read from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final


class Layer(StrEnum):
    """What holds a workload, in the order in which a workload passes them; the last ones say that nothing does."""

    ADMISSION = "admission"
    """The API server refuses the object, or one that a controller makes for it."""
    CONTROLLER = "controller"
    """The controller of the object has not acted on it."""
    QUOTA = "quota"
    """It requests more than a ResourceQuota, a LimitRange or the team's share ever allows."""
    QUEUE = "queue"
    """Kueue does not admit it yet."""
    SCHEDULER = "scheduler"
    """The scheduler finds no node for a pod."""
    POOL_LIMIT = "pool limit"
    """The pool has as many nodes as it may have."""
    EC2_CAPACITY = "EC2 capacity"
    """EC2 has no instances of the pool's types in its zones."""
    AWS_QUOTA = "AWS quota"
    """The account may not have more instances."""
    NODE = "node initialization"
    """A node is being launched for it, or has not become ready."""
    VOLUME = "volume"
    """A claim is missing or not bound, or a volume is not attached or mounted."""
    IMAGE = "image"
    """The image is not pulled."""
    CONTAINER = "container"
    """A container does not start, or ends and is restarted, or is not ready."""
    FAILED = "failed"
    RUNS = "runs"
    FINISHED = "finished"
    ACCEPTED = "accepted"
    """Of a file: nothing is known that would hold it."""


NOTHING_HOLDS: Final = frozenset({Layer.RUNS, Layer.FINISHED, Layer.ACCEPTED})
SAYS: Final[Mapping[Layer, str]] = MappingProxyType(
    {
        Layer.ADMISSION: "is refused by admission",
        Layer.CONTROLLER: "waits for its controller",
        Layer.QUOTA: "exceeds its quota",
        Layer.QUEUE: "waits in its queue",
        Layer.SCHEDULER: "has no node that the scheduler accepts",
        Layer.POOL_LIMIT: "waits for a pool that is at its limit",
        Layer.EC2_CAPACITY: "waits for EC2 capacity",
        Layer.AWS_QUOTA: "is held by an AWS quota",
        Layer.NODE: "waits for a node that is starting",
        Layer.VOLUME: "waits for a volume",
        Layer.IMAGE: "waits for its image",
        Layer.CONTAINER: "has a container that is not running",
        Layer.FAILED: "has failed",
        Layer.RUNS: "runs",
        Layer.FINISHED: "has finished",
        Layer.ACCEPTED: "would be accepted",
    }
)
BEFORE: Final[Mapping[Layer, str]] = MappingProxyType(
    {
        Layer.ADMISSION: "would be refused by admission",
        Layer.CONTROLLER: "would never be done by its controller",
        Layer.QUOTA: "would exceed its quota",
        Layer.QUEUE: "would not be admitted by its queue",
        Layer.SCHEDULER: "would get no node from the scheduler",
        Layer.POOL_LIMIT: "would reach the limit of its pool",
        Layer.VOLUME: "would get no volume",
        Layer.CONTAINER: "would have a container that can't start",
    }
)
"""The same about an object that does not exist yet."""
NEVER: Final[Mapping[Layer, str]] = MappingProxyType(
    {
        Layer.QUEUE: "can't be admitted by its queue",
        Layer.SCHEDULER: "fits no node that its pools can have",
        Layer.VOLUME: "has a volume that can't be provided",
        Layer.IMAGE: "has an image that can't be pulled",
        Layer.CONTAINER: "has a container that can't start",
        Layer.CONTROLLER: "can't be made by its controller",
        Layer.EC2_CAPACITY: "can't get a node from EC2",
    }
)
"""The same about what waiting does not help."""


@dataclass(frozen=True)
class Evidence:
    """What an answer was read from: `condition PodScheduled of pod/a`, and its text as it is in the cluster."""

    source: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Part:
    """What one layer says: the fields of an answer that it knows.

    Attributes:
        layer: The layer.
        cause: What is wrong, with the number; a clause.
        fix: What to do next; a clause. Empty if nothing is to be done.
        never: Whether it would wait for ever: it has to be changed.
        numbers: The numbers in the cause, by name: `requested`, `limit`, `missing`, ...
        evidence: What it was read from.
    """

    layer: Layer
    cause: str
    fix: str = ""
    never: bool = False
    numbers: Mapping[str, str] = field(default_factory=dict)
    evidence: Sequence[Evidence] = ()

    def seen(self, *evidence: Evidence) -> Part:
        """The same with more evidence."""
        return replace(self, evidence=(*self.evidence, *evidence))


@dataclass(frozen=True, kw_only=True)
class Answer:
    """Why one workload waits, or that it does not.

    Attributes:
        subject: `job/train`, as kubectl writes it.
        part: What the layer that holds it says.
        unread: What could not be read, with the reason.
        planned: Whether the object does not exist yet: its file was read.
        changes: What was changed in its file.
        left: What its author has to change, with the reason.
    """

    subject: str
    part: Part
    unread: Sequence[str] = ()
    planned: bool = False
    changes: Sequence[str] = ()
    left: Sequence[str] = ()

    @property
    def held(self) -> bool:
        """Whether something holds it, or has made it fail."""
        return self.part.layer not in NOTHING_HOLDS

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        part = self.part
        words = BEFORE if self.planned else NEVER if part.never else SAYS
        says = words.get(part.layer, SAYS[part.layer])
        cause = f": {part.cause.rstrip('.')}" if part.cause else ""
        step = f"; next: {part.fix.rstrip('.')}" if part.fix else ""
        return f"{self.subject} {says}{cause}{step}{'' if step.endswith('?') else '.'}"

    def text(self) -> str:
        """The sentence, and below it what it was read from."""
        lines = [self.sentence, *(f"  changed: {one}" for one in self.changes)]
        lines += [f"  left to its author: {one}" for one in self.left]
        lines += [f"  {one.source}: {' '.join(one.text.split())}" for one in self.part.evidence]
        lines += [f"  not read: {one}" for one in self.unread]
        return "\n".join(lines)

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
            "left": list(self.left),
        }

"""Questions to the account: what it would refuse of a change that a preview plans. Nothing is changed by them.

A question is a number in the user agent of the requests that a change would make (`MARK/NUMBER`). What reads is
answered as ever. The first request that would change something is judged, and refused whatever the verdict.
"""

from __future__ import annotations

import re
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

MARK: Final = "slipway-question"
CODE: Final = "DryRunOperation"
_IN_AGENT: Final = re.compile(rf"{MARK}/([0-9a-f]+)")
Problem = tuple[str, str]
"""The code and the words of a refusal."""


@dataclass
class Question:
    """A question, and the verdict once there is one: what would be refused."""

    number: str = field(default_factory=lambda: uuid.uuid4().hex)
    judged: threading.Event = field(default_factory=threading.Event)
    problems: Sequence[Problem] = ()


_OPEN: Final[dict[str, Question]] = {}


@contextmanager
def asked() -> Iterator[Question]:
    """A question that is open meanwhile."""
    question = Question()
    _OPEN[question.number] = question
    try:
        yield question
    finally:
        del _OPEN[question.number]


def of(headers: Mapping[str, Any]) -> str | None:
    """The number of the question that a request is; None if it is none."""
    match = _IN_AGENT.search(str(headers.get("User-Agent", "")))
    return match[1] if match else None


def answer(number: str, problems: Sequence[Problem]) -> Problem:
    """The refusal of a question's request, of which the verdict is kept."""
    question = _OPEN.get(number)
    if question is not None and not question.judged.is_set():
        question.problems = problems
        question.judged.set()
    return problems[0] if problems else (CODE, "the request would have succeeded, but this is a question")

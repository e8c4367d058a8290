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
CHANGE: Final = "slipway-change"
_IN_AGENT: Final = re.compile(rf"({MARK}|{CHANGE})/([0-9a-f]+)")
_ERROR: Final = re.compile(r'<Code>([^<]+)</Code>|"__type": ?"([^"]+)"')
_WORDS: Final = re.compile(r'(?:<Message>|"[Mm]essage": ?")([^<"]*)')
Problem = tuple[str, str]
"""The code and the words of a refusal."""


@dataclass
class Question:
    """A question, and the verdict once there is one: what would be refused.

    Of a change that is made it is open, too: what is refused a second time in the same words will never pass, because
    the account knows at once what it was given. A provider tries again for minutes, until AWS has it everywhere.
    """

    number: str = field(default_factory=lambda: uuid.uuid4().hex)
    judged: threading.Event = field(default_factory=threading.Event)
    problems: Sequence[Problem] = ()
    refused: set[tuple[str, str]] = field(default_factory=set)
    """Operations that were refused, and how."""
    succeeded: bool = False
    """Whether something was changed: then nothing is given up."""


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
    return match[2] if match and match[1] == MARK else None


def answered(headers: Mapping[str, Any], operation: str, status: int, body: Any) -> None:
    """Note the answer to a request that changes something, of a change that is made."""
    match = _IN_AGENT.search(str(headers.get("User-Agent", "")))
    change = _OPEN.get(match[2]) if match and match[1] == CHANGE else None
    if change is None:
        return
    change.succeeded |= status < 400
    text = body.decode(errors="replace") if isinstance(body, bytes) else str(body)
    found = _ERROR.search(text)
    refusal = operation, found[0] if found else ""
    if status >= 400 and refusal in change.refused and not change.succeeded:
        words = _WORDS.search(text)
        change.problems = [(next(filter(None, found.groups()), "") if found else "", words[1] if words else text)]
        change.judged.set()
    change.refused.add(refusal)


def answer(number: str, problems: Sequence[Problem]) -> Problem:
    """The refusal of a question's request, of which the verdict is kept."""
    question = _OPEN.get(number)
    if question is not None and not question.judged.is_set():
        question.problems = problems
        question.judged.set()
    return problems[0] if problems else (CODE, "the request would have succeeded, but this is a question")

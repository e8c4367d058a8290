"""Questions to the account: what it would refuse of a change that a preview plans. Nothing is changed by them.

A question is a number in the user agent of the requests that a change would make (`MARK/NUMBER`). What reads is
answered as ever. The first request that would change something is judged, and refused whatever the verdict.

Of a change that is made (`CHANGE/NUMBER`), a wait without end is refused: a provider asks until it sees a state,
without a pause here, and what moto doesn't know of an object never comes.
"""

from __future__ import annotations

import re
import threading
import time
import uuid
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

MARK: Final = "slipway-question"
CODE: Final = "DryRunOperation"
CHANGE: Final = "slipway-change"
NEVER: Final = "StateNeverReached"
"""The code of what ends a wait."""
_LOOKS: Final = 20
_QUIET_SECONDS: Final = 10.0
"""Of the same question, asked so often for so long while nothing changes, the answer stays what it is."""
_IN_AGENT: Final = re.compile(rf"({MARK}|{CHANGE})/([0-9a-f]+)")
_ERROR: Final = re.compile(r'<Code>([^<]+)</Code>|"__type": ?"([^"]+)"')
_WORDS: Final = re.compile(r'(?:<Message>|"[Mm]essage": ?")([^<"]*)')
Problem = tuple[str, str]
"""The code and the words of a refusal."""


@dataclass
class Question:
    """A question, and the verdict once there is one: what would be refused.

    Of a change that is made it is open, too, because a provider tries again for minutes. What is refused a second time
    in the same words will never pass: the account knows at once what it was given. A deletion passes once what is in
    its way is gone, so it waits while anything changes.
    """

    number: str = field(default_factory=lambda: uuid.uuid4().hex)
    judged: threading.Event = field(default_factory=threading.Event)
    problems: Sequence[Problem] = ()
    patience: float = 0.0
    """Seconds in which nothing changes, until what was refused is given up."""
    refused: dict[tuple[str, str], float] = field(default_factory=dict)
    """Operations that were refused, and how, with when that was first."""
    succeeded: bool = False
    """Whether something was changed: then nothing is given up."""
    seen: bool = False
    """Whether the account was asked anything."""
    last: str = ""
    """The last request that changed something, and its parameters' names."""
    looks: dict[str, tuple[int, float]] = field(default_factory=dict)
    """Requests that only read, each with how often it came since anything changed, and when first."""


_OPEN: Final[dict[str, Question]] = {}
_LAST: Final[deque[float]] = deque([0.0], maxlen=1)
"""When anybody last changed something."""


@contextmanager
def asked(patience: float = 0.0) -> Iterator[Question]:
    """A question that is open meanwhile."""
    question = Question(patience=patience)
    _OPEN[question.number] = question
    try:
        yield question
    finally:
        del _OPEN[question.number]


def of(headers: Mapping[str, Any]) -> str | None:
    """The number of the question that a request is; None if it is none."""
    match = _IN_AGENT.search(str(headers.get("User-Agent", "")))
    if match is None or match[1] != MARK:
        return None
    if match[2] in _OPEN:
        _OPEN[match[2]].seen = True
    return match[2]


def _change(headers: Mapping[str, Any]) -> Question | None:
    match = _IN_AGENT.search(str(headers.get("User-Agent", "")))
    return _OPEN.get(match[2]) if match and match[1] == CHANGE else None


def looked(headers: Mapping[str, Any], operation: str, request: str) -> Problem | None:
    """What ends a wait for what never comes; None while the request may still be answered otherwise."""
    change, now = _change(headers), time.monotonic()
    if change is None:
        return None
    count, first = change.looks.get(request, (0, now))
    if first < _LAST[-1]:
        count, first = 0, now
    change.looks[request] = count + 1, first
    if count < _LOOKS or now - first < _QUIET_SECONDS:
        return None
    since = f"what {change.last} set" if change.last else "it"
    return NEVER, (
        f"{operation} was answered alike {count} times in {now - first:.0f} s, and nothing changes any more: the "
        f"sandbox's AWS does not report {since} in the state that is waited for here. Leave that out in rehearsals, or "
        f'add it to the answers of the sandbox (CONTRIBUTING.md, "Add an AWS type to the sandbox")'
    )


def answered(headers: Mapping[str, Any], operation: str, status: int, body: Any, given: Iterable[str] = ()) -> None:
    """Note the answer to a request that changes something, of a change that is made."""
    change = _change(headers)
    if status < 400:
        _LAST.append(time.monotonic())
    if change is None:
        return
    if status < 400:
        change.succeeded, change.last = True, f"{operation} ({', '.join(sorted(given))})"
        return
    text = body.decode(errors="replace") if isinstance(body, bytes) else str(body)
    found, words = _ERROR.search(text), _WORDS.search(text)
    now, refusal = time.monotonic(), (operation, found[0] if found else "")
    first = change.refused.get(refusal)
    if first is None:
        change.refused[refusal] = now
    elif not change.succeeded and now - max(first, _LAST[-1] if change.patience else first) >= change.patience:
        code = next(filter(None, found.groups()), "") if found else ""
        change.problems = [(code, words[1] if words else text)]
        change.judged.set()


def answer(number: str, problems: Sequence[Problem]) -> Problem:
    """The refusal of a question's request, of which the verdict is kept."""
    question = _OPEN.get(number)
    if question is not None and not question.judged.is_set():
        question.problems = problems
        question.judged.set()
    return problems[0] if problems else (CODE, "the request would have succeeded, but this is a question")

"""Faults on request: what fails at other times on AWS, and a part of the sandbox that doesn't answer for a while.

They meet requests that come through the socket, as those of providers, controllers, the AWS CLI and SDKs do, before
AWS's own rules. A question of a preview changes nothing, and on AWS nobody sends it: it meets none.
"""

from __future__ import annotations

import fnmatch
import functools
import json
import random
import socket
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final

from botocore import xform_name
from moto.core.responses import ActionResult, BaseResponse
from moto.core.utils import get_service_model
from moto.s3.responses import S3Response

from sandbox.aws.moto import live, questions
from sandbox.aws.moto.judged import OUTSIDE, Refused
from sandbox.aws.rules.requests import READS
from sandbox.errors import SandboxError
from spec import strict_yaml

_CODES: Final[Mapping[str, Mapping[str, tuple[str, int]]]] = strict_yaml.beside(__file__)
AWAY: Final = "away"
SLOW: Final = "slow"
FULL: Final = "full"
_OF_PARTS: Final = (AWAY, SLOW, FULL)
DELAYED: Final = "delayed"
FAILED: Final = "failed"
LOST: Final = "lost"
FAILS: Final = (*_CODES, DELAYED, LOST, FAILED, *_OF_PARTS)
_TEXT: Final = "a fault on request: `slipway sandbox faults` lists them"


def _fits(value: object, like: object) -> bool:
    """Whether a value is of the kind of another one: a text, or a number that isn't negative."""
    if isinstance(like, str):
        return isinstance(value, str)
    kinds = (int, float) if isinstance(like, float) else int
    return isinstance(value, kinds) and not isinstance(value, bool) and value >= 0


@dataclass
class Fault:
    """One fault."""

    fails: str
    """One of `FAILS`. `lost` makes the object and closes the connection without an answer; `failed` lets what EKS makes
    end in `CREATE_FAILED`; `away` lets a part of the sandbox stand still, `slow` most of the time, and `full` lets etcd
    refuse to write."""
    on: str = ""
    """`service:Operation` of AWS as IAM writes it, with `*` for any text. A fault of a part begins at once without it,
    otherwise with such a request."""
    part: str = ""  # which: `kube-apiserver`, `etcd`, `kueue`
    after: int = 0  # requests that pass first
    times: int = 1  # how many fail; 0 for all
    probability: float = 1.0  # share of the requests that fail, by the seed
    seconds: float = 0.0  # how long an answer is delayed, or a part is away
    met: int = field(default=0, init=False)
    """Requests that it met, of which `failed` failed."""
    failed: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        given = ((one, getattr(self, one.name)) for one in fields(self))
        # What has no default is a text.
        odd = [one.name for one, value in given if not _fits(value, "" if one.name == "fails" else one.default)]
        of_part = self.fails in _OF_PARTS
        wrong = {
            f"{', '.join(odd)}: a text where a number is, or a number below 0": bool(odd),
            f"it fails as {self.fails!r}; use one of {', '.join(FAILS)}": self.fails not in FAILS,
            "`away`, `slow` and `full` have a `part`, and nothing else has one": of_part != bool(self.part),
            "`on` names requests, `service:Operation`": not of_part and not self.on,
            f"{self.fails} needs `seconds` above 0": (of_part or self.fails == DELAYED) and not self.seconds,
            "only `part: etcd` can be full": self.fails == FULL and self.part != "etcd",
        }
        if msg := next((text for text, found in wrong.items() if found), ""):
            raise SandboxError(f"fault on {self.on or self.part}: {msg}")  # noqa: EM102

    def meets(self, request: str) -> bool:
        """Whether a request has its name."""
        return fnmatch.fnmatchcase(request.lower(), self.on.lower())

    def strikes(self, chance: random.Random) -> bool:
        """Whether the request that it meets fails."""
        self.met += 1
        if self.met <= self.after or (self.times and self.failed >= self.times) or chance.random() >= self.probability:
            return False
        self.failed += 1
        return True


_LOCK: Final = threading.Lock()
_FAULTS: Final[list[Fault]] = []
_CHANCE: Final = random.Random()  # noqa: S311 - repeatable, by a seed


def put(document: Any) -> None:
    """Set these faults in place of earlier ones, and disturb parts. Raises SandboxError."""
    rows = document.get("faults") if isinstance(document, Mapping) and set(document) <= {"seed", "faults"} else None
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        msg = "a file of faults has the list `faults`, of maps, and `seed`, if any"
        raise SandboxError(msg)
    try:
        faults = [Fault(**row) for row in rows]
    except TypeError as error:
        known = ", ".join(one.name for one in fields(Fault) if one.init)
        msg = f"a fault has {known}: {str(error).partition('() ')[2]}"
        raise SandboxError(msg) from error
    for one in faults:
        if one.fails in _OF_PARTS and not one.on:
            live.behind().disturb(one.part, one.seconds, one.fails)
    with _LOCK:
        _FAULTS[:] = faults
        _CHANCE.seed(document.get("seed", 0))


def listed() -> list[dict[str, Any]]:
    """The faults, with the requests that each met and failed."""
    with _LOCK:
        return [asdict(one) for one in _FAULTS]


def answered(_: str, content: bytes) -> str:
    """Set faults, if there is a document, and list them."""
    if content:
        put(json.loads(content))
    return json.dumps(listed())


def struck(request: str, *kinds: str) -> Fault | None:
    """The first fault that lets a request fail, of these kinds."""
    with _LOCK:
        met = [one for one in _FAULTS if one.fails in kinds and one.meets(request)]
        return next((one for one in met if one.strikes(_CHANCE)), None)


def install() -> None:
    """Let requests meet faults, and then what moto's answers were before. A second call does nothing."""
    base, s3 = BaseResponse, S3Response
    if not hasattr(base.call_action, "_disturbed"):
        for of, name in ((base, "call_action"), (s3, "_bucket_response"), (s3, "_key_response")):
            setattr(of, name, _disturbed(getattr(of, name)))


def _disturbed(answer: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(answer)
    def respond(response: Any, *args: Any, **more: Any) -> Any:
        action, environ = response._get_action() or "", response.normalized_request.environ
        question = questions.of(response.headers) and not xform_name(action).startswith(READS)
        if not action or question or not environ.get(OUTSIDE):
            return answer(response, *args, **more)
        request = f"{response.boto3_service_name}:{action}"
        if fault := struck(request, *_OF_PARTS):
            with suppress(SandboxError):
                live.behind().disturb(fault.part, fault.seconds, fault.fails)
        if fault := struck(request, DELAYED):
            time.sleep(fault.seconds)
        if fault := struck(request, *_CODES):
            return _refused(response, fault)
        token = live.DOOMED.set(_TEXT if struck(request, FAILED) else "")
        try:
            return answer(response, *args, **more)
        finally:
            live.DOOMED.reset(token)
            if struck(request, LOST):
                _lose(environ)

    vars(respond)["_disturbed"] = True
    return respond


def _refused(response: Any, fault: Fault) -> tuple[int, Any, Any]:
    """The answer in the codes and the form of the service."""
    service, codes = response.boto3_service_name, _CODES[fault.fails]
    by = "query" if get_service_model(service).protocol == "query" else "json"
    code, status = codes.get(service) or codes[by]
    if service == "s3":
        return status, {}, f"<Error><Code>{code}</Code><Message>{_TEXT}</Message></Error>"
    with warnings.catch_warnings():
        # Codes that all services of a protocol have are in no service's model.
        warnings.simplefilter("ignore", UserWarning)
        _, headers, body = response.serialized(ActionResult(Refused(code, _TEXT)))
    return status, *response._enrich_response(headers, body)


def _lose(environ: Mapping[str, Any]) -> None:
    """Close the connection of a request, as a network does that fails."""
    connection = environ.get("werkzeug.socket")
    if isinstance(connection, socket.socket):
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)

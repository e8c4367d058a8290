"""Faults on request: what fails at other times on AWS, and a part of the sandbox that doesn't answer for a while.

They meet requests that come through the socket, as those of providers, controllers, the AWS CLI and SDKs do.
"""

from __future__ import annotations

import fnmatch
import json
import random
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from http import HTTPStatus
from typing import Any, Final

from sandbox.errors import SandboxError

ADDRESS: Final = "/slipway/faults"
LOST: Final = "lost"
AWAY: Final = "away"
FAILED: Final = "failed"
DELAYED: Final = "delayed"
_OF_EC2: Final = {
    "throttled": ("RequestLimitExceeded", HTTPStatus.SERVICE_UNAVAILABLE),
    "denied": ("UnauthorizedOperation", HTTPStatus.FORBIDDEN),
    "internal": ("InternalError", HTTPStatus.INTERNAL_SERVER_ERROR),
    "unavailable": ("Unavailable", HTTPStatus.SERVICE_UNAVAILABLE),
    "no-capacity": ("InsufficientInstanceCapacity", HTTPStatus.INTERNAL_SERVER_ERROR),
    "in-use": ("DependencyViolation", HTTPStatus.BAD_REQUEST),
}
"""Codes of EC2 (EC2 API Reference, "Error codes for the Amazon EC2 API")."""
_OF_QUERY: Final = {
    "throttled": ("Throttling", HTTPStatus.BAD_REQUEST),
    "denied": ("AccessDenied", HTTPStatus.FORBIDDEN),
    "internal": ("InternalFailure", HTTPStatus.INTERNAL_SERVER_ERROR),
    "unavailable": ("ServiceUnavailable", HTTPStatus.SERVICE_UNAVAILABLE),
    "no-capacity": ("InsufficientCapacity", HTTPStatus.INTERNAL_SERVER_ERROR),
    "in-use": ("DeleteConflict", HTTPStatus.CONFLICT),
}
"""Those of services with the Query protocol (IAM API Reference, "Common errors")."""
_OF_JSON: Final = {
    "throttled": ("ThrottlingException", HTTPStatus.TOO_MANY_REQUESTS),
    "denied": ("AccessDeniedException", HTTPStatus.FORBIDDEN),
    "internal": ("InternalServerException", HTTPStatus.INTERNAL_SERVER_ERROR),
    "unavailable": ("ServiceUnavailableException", HTTPStatus.SERVICE_UNAVAILABLE),
    "no-capacity": ("InsufficientCapacityException", HTTPStatus.INTERNAL_SERVER_ERROR),
    "in-use": ("ResourceInUseException", HTTPStatus.CONFLICT),
}
"""Those of the others (EKS API Reference, "Common errors" and the errors of its operations)."""
_OF_S3: Final = {**_OF_EC2, "throttled": ("SlowDown", HTTPStatus.SERVICE_UNAVAILABLE), "denied": _OF_QUERY["denied"]}
"""Those of S3 (S3 API Reference, "Error responses")."""
ANSWERED: Final = tuple(_OF_JSON)
TEXT: Final = "a fault on request: `slipway sandbox faults` lists them"
FAILS: Final = (*ANSWERED, DELAYED, LOST, FAILED, AWAY)


@dataclass
class Fault:
    """One fault.

    Attributes:
        on: `service:Operation` of AWS as IAM writes it, with `*` for any text. A part that is away without it is so at
            once, otherwise from such a request on.
        fails: One of `FAILS`. `lost` makes the object and closes the connection without an answer; `failed` lets what
            EKS makes end in `CREATE_FAILED`; `away` lets a part of the sandbox stand still.
        part: Which: `kube-apiserver`, `etcd`, `kueue`.
        after: Requests that pass first.
        times: How many fail; 0 for all.
        probability: Share of the requests that fail, by the seed.
        seconds: How long an answer is delayed, or a part is away.
    """

    fails: str
    on: str = ""
    part: str = ""
    after: int = 0
    times: int = 1
    probability: float = 1.0
    seconds: float = 0.0
    met: int = field(default=0, init=False)
    """Requests that it met, of which `failed` failed."""
    failed: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        wrong = {
            f"it fails as {self.fails!r}; use one of {', '.join(FAILS)}": self.fails not in FAILS,
            "`away` has a `part`, and nothing else has one": (self.fails == AWAY) != bool(self.part),
            "`on` names requests, `service:Operation`": self.fails != AWAY and not self.on,
            f"{self.fails} needs `seconds` above 0": self.fails in (AWAY, DELAYED) and not self.seconds > 0,
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


def put(document: Any, pause: Callable[[str, float], None]) -> None:
    """Set these faults in place of earlier ones, and let parts be away. Raises SandboxError."""
    rows = document.get("faults") if isinstance(document, Mapping) and set(document) <= {"seed", "faults"} else None
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        msg = "a file of faults has the list `faults`, of maps, and `seed`, if any"
        raise SandboxError(msg)
    try:
        faults = [Fault(**row) for row in rows]
    except TypeError as error:
        known = ", ".join(name for name, one in Fault.__dataclass_fields__.items() if one.init)
        msg = f"a fault has {known}: {str(error).partition('() ')[2]}"
        raise SandboxError(msg) from error
    for one in faults:
        if one.fails == AWAY and not one.on:
            pause(one.part, one.seconds)
    with _LOCK:
        _FAULTS[:] = faults
        _CHANCE.seed(document.get("seed", 0))


def listed() -> list[dict[str, Any]]:
    """The faults, with the requests that each met and failed."""
    with _LOCK:
        return [asdict(one) for one in _FAULTS]


def struck(request: str, *kinds: str) -> Fault | None:
    """The first fault that lets a request fail, of these kinds."""
    with _LOCK:
        met = [one for one in _FAULTS if one.fails in kinds and one.meets(request)]
        return next((one for one in met if one.strikes(_CHANCE)), None)


@dataclass(frozen=True)
class Answer:
    """What a request is answered that fails."""

    code: str
    status: int
    text: str = TEXT


def answer(service: str, protocol: str, fault: Fault) -> Answer:
    """The answer in the codes of a service."""
    codes = {"ec2": _OF_EC2, "s3": _OF_S3}.get(service) or (_OF_QUERY if protocol == "query" else _OF_JSON)
    code, status = codes[fault.fails]
    return Answer(code, status.value)


Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def delay(request: str, pause: Callable[[str, float], None]) -> None:
    """Wait as long as a fault says, and let a part be away whose time has come, if it runs."""
    if fault := struck(request, AWAY):
        with suppress(SandboxError):
            pause(fault.part, fault.seconds)
    if fault := struck(request, DELAYED):
        time.sleep(fault.seconds)


def lose(environ: Mapping[str, Any]) -> None:
    """Close the connection of a request, as a network does that fails."""
    connection = environ.get("werkzeug.socket")
    if isinstance(connection, socket.socket):
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)


def served(application: Application, pause: Callable[[str, float], None]) -> Application:
    """The application, which also takes faults (PUT) and lists them (GET)."""

    def respond(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if environ.get("PATH_INFO") != ADDRESS:
            return application(environ, start_response)
        status, body = HTTPStatus.OK, b""
        try:
            if environ.get("REQUEST_METHOD") == "PUT":
                text = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
                put(json.loads(text), pause)
            body = json.dumps(listed()).encode()
        except SandboxError as refused:
            status, body = HTTPStatus.CONFLICT, str(refused).encode()
        start_response(f"{status.value} {status.phrase}", [("Content-Length", str(len(body)))])
        return [body]

    return respond

"""What stands between the socket of the sandbox's AWS and moto: it answers our user's AWS clients alone.

A browser on the same machine sends requests for any page, to any port, and moto allows every origin to read its answers
(flask-cors, moto 5.2.5). A page may also reach 127.0.0.1 under a name of its own, by DNS rebinding; its requests then
carry that name as Host. AWS clients send neither Origin nor Sec-Fetch-Site.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any

from slipway.sandbox.peers import Peers

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
_LOCAL = re.compile(r"(127\.0\.0\.1|(?:[a-z0-9.-]+\.)?localhost)(:\d+)?", re.IGNORECASE)
"""Names that no name server can point elsewhere: `localhost` and all below it (RFC 6761), as buckets have them."""
_SAME_SITE = ("same-origin", "none")
_CROSS_ORIGIN = "access-control-"


def guarded(application: Application, peers: Peers) -> Application:
    """The application, refusing requests of pages and of other users, and without headers for other origins."""

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        problem = refusal(environ, peers)
        if problem is not None:
            text = f"{problem}\n".encode()
            headers = [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(text)))]
            start_response(f"{HTTPStatus.FORBIDDEN.value} {HTTPStatus.FORBIDDEN.phrase}", headers)
            return [text]

        def start(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            kept = [(name, value) for name, value in headers if not name.lower().startswith(_CROSS_ORIGIN)]
            return start_response(status, kept, *rest)

        return application(environ, start)

    return answer


def refusal(environ: dict[str, Any], peers: Peers) -> str | None:
    """Why a request is refused; None if it is answered."""
    host = environ.get("HTTP_HOST", "")
    if not _LOCAL.fullmatch(host):
        return f"the sandbox's AWS is 127.0.0.1 or localhost, not {host!r}"
    origin = environ.get("HTTP_ORIGIN")
    if origin is not None and origin != f"http://{host}":
        return "the sandbox's AWS answers no page of another origin"
    if environ.get("HTTP_SEC_FETCH_SITE", "none") not in _SAME_SITE:
        return "the sandbox's AWS answers no request that another page makes"
    referrer = environ.get("HTTP_REFERER")
    if referrer is not None and not referrer.startswith(f"http://{host}/"):
        return "the sandbox's AWS answers no request of another page"
    if not peers.ours(int(environ["REMOTE_PORT"]), int(environ["SERVER_PORT"])):
        return "the sandbox's AWS answers processes of the user who started it"
    return None

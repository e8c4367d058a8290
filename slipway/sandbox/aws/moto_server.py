"""The AWS that answers: moto's HTTP server on loopback, in a thread of this process. It keeps everything in memory."""

from __future__ import annotations

import functools
import http.client
import logging
import os
import socket
from dataclasses import dataclass
from typing import Any

from slipway.sandbox.aws import parsed_once
from slipway.sandbox.rpc.errors import ProviderError

HOST = "127.0.0.1"
READY_TIMEOUT_SECONDS = 30

_ENVIRONMENT = {
    # Without it attaching a policy of AWS's own (arn:aws:iam::aws:policy/...) fails. Read when moto is imported.
    "MOTO_IAM_LOAD_MANAGED_POLICIES": "true",
}
# Overrules the header that names the account (moto 5.2.5, core/responses.py).
_UNWANTED = "MOTO_ACCOUNT_ID"


@dataclass(frozen=True)
class MotoServer:
    """A running server, and the WSGI application that answers for it."""

    port: int
    application: Any
    _server: Any

    @property
    def endpoint(self) -> str:
        """The URL AWS clients are pointed at."""
        return f"http://{HOST}:{self.port}"

    def stop(self) -> None:
        """Stop serving; what moto held is gone."""
        self._server.stop()


def start(port: int = 0) -> MotoServer:
    """Serve on a port of loopback, 0 for a free one; returns once it answers. Raises ProviderError if it is taken."""
    _refuse_taken(port)
    os.environ.update(_ENVIRONMENT)
    os.environ.pop(_UNWANTED, None)
    # Before moto is imported: it makes sessions of botocore's even then.
    parsed_once.install()
    # Imported here: the environment above is read at import, which takes about a second.
    from moto.server import ThreadedMotoServer  # noqa: PLC0415

    _remember()
    # werkzeug writes a line per request to stderr otherwise.
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address=HOST, port=port, verbose=False)
    server.start()
    # Its own server, which it hands to nobody (moto 5.2.5, moto_server/threaded_moto_server.py).
    running = MotoServer(server.get_host_and_port()[1], server._server.app, server)  # type: ignore[union-attr]
    # http.client, for urllib would go through a proxy named in the environment.
    connection = http.client.HTTPConnection(HOST, running.port, timeout=READY_TIMEOUT_SECONDS)
    try:
        # Not data.json, the page of all that it holds: 8 s in a process that has served others before (2026-11).
        connection.request("GET", "/moto-api/config")
        connection.getresponse().read()
    finally:
        connection.close()
    return running


def _remember() -> None:
    """Keep what moto 5.2.5 works out at each request anew, and what is the same each time: a fifth of a call's CPU.

    Those are its services, by a listing of its directory, and the methods of the class that answers (2026-11).
    """
    from moto import backends  # noqa: PLC0415
    from moto.core import responses  # noqa: PLC0415

    listing: Any = backends
    answering: Any = responses
    services, methods = listing.list_of_moto_modules, answering.method_names_from_class
    if not hasattr(methods, "cache_info"):
        listing.list_of_moto_modules = functools.cache(lambda: frozenset(services()))
        answering.method_names_from_class = functools.cache(methods)


def _refuse_taken(port: int) -> None:
    """Moto's own thread would die silently and leave `start` waiting for ever."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            msg = f"port {port} on {HOST} cannot be served: {error.strerror}; give another port, 0 for a free one"
            raise ProviderError(msg) from error

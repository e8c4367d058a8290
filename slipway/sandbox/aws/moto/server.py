"""The sandbox's AWS: moto's HTTP server on loopback, in a thread of this process. It keeps everything in memory."""

from __future__ import annotations

import functools
import http.client
import logging
import os
import socket
from dataclasses import dataclass
from typing import Any

from slipway.sandbox.aws.moto import service_models
from slipway.sandbox.aws.moto.guard import guarded
from slipway.sandbox.peers import Peers
from slipway.sandbox.rpc.errors import ProviderError

HOST = "127.0.0.1"
READY_TIMEOUT_SECONDS = 30

_ENVIRONMENT = {
    # Without it, attaching an AWS managed policy (arn:aws:iam::aws:policy/...) fails. Read when moto is imported.
    "MOTO_IAM_LOAD_MANAGED_POLICIES": "true",
    # Otherwise every page that a browser shows may read the answers.
    "MOTO_DISABLE_GLOBAL_CORS": "true",
}
# It would override the header that names the account (moto 5.2.5, core/responses.py).
_UNWANTED = "MOTO_ACCOUNT_ID"


@dataclass(frozen=True)
class MotoServer:
    """A running server, and the WSGI application that answers for it."""

    port: int
    application: Any
    _server: Any

    @property
    def endpoint(self) -> str:
        """The endpoint URL for AWS clients."""
        return f"http://{HOST}:{self.port}"

    def stop(self) -> None:
        """Stop serving."""
        self._server.stop()


def start(port: int = 0) -> MotoServer:
    """Serve on a loopback port, 0 for a free one; returns once it answers. Raises ProviderError if it is in use."""
    _refuse_taken(port)
    os.environ.update(_ENVIRONMENT)
    os.environ.pop(_UNWANTED, None)
    # Before moto is imported: it creates botocore sessions at import.
    service_models.install()
    # Imported here: moto reads the environment at import, which takes about a second.
    from moto.server import ThreadedMotoServer  # noqa: PLC0415

    from slipway.sandbox.aws.moto import chosen_ids, eks  # noqa: PLC0415

    eks.install()
    chosen_ids.install()
    _cache_look_ups()
    # Otherwise werkzeug writes a line per request to stderr.
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address=HOST, port=port, verbose=False)
    server.start()
    # Waits until it listens.
    _, listening = server.get_host_and_port()
    # Moto has no public access to its WSGI application (moto 5.2.5, moto_server/threaded_moto_server.py).
    serving: Any = server._server
    running = MotoServer(listening, serving.app, server)
    serving.app = guarded(serving.app, Peers())
    # http.client, because urllib would use a proxy named in the environment.
    connection = http.client.HTTPConnection(HOST, running.port, timeout=READY_TIMEOUT_SECONDS)
    try:
        # Not data.json, which lists all objects: 8 s in a process that has served other stacks before (2026-11).
        connection.request("GET", "/moto-api/config")
        connection.getresponse().read()
    finally:
        connection.close()
    return running


def _cache_look_ups() -> None:
    """Cache two look-ups that moto 5.2.5 repeats at each request with the same result, a fifth of a call's CPU.

    They are its list of services, read from its directory, and the methods of the answering class (2026-11).
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
    """Without this check, moto's thread would end silently and `start` would wait for ever."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            msg = f"can't listen on port {port} of {HOST}: {error.strerror}; choose another port, or 0 for a free one"
            raise ProviderError(msg) from error

"""Follows the objects of a kind: all of them, then each change (kubernetes.io, "Efficient detection of changes").

A watch is one open request, so following costs nothing while nothing changes.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final

import urllib3

from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.errors import ApiError, UnreachableError
from slipway.sandbox.kubernetes.objects import Object

LOG = logging.getLogger(__name__)
RETRY_SECONDS: Final = 1.0
READ_SECONDS: Final = 300.0
"""An API server ends a watch by itself after five to ten minutes."""

Handler = Callable[[str, Object], None]
"""Called by one thread with `ADDED`, `MODIFIED` or `DELETED` and the object, in the order of the changes."""


class Watch:
    """A thread that follows one path of the API until it is stopped. A handler that raises misses that change alone."""

    def __init__(
        self, client: KubeClient, path: str, handle: Handler, parameters: Mapping[str, str] | None = None
    ) -> None:
        self._client = client
        self._path = path
        self._handle = handle
        self._parameters = dict(parameters or {})
        self._stopped = threading.Event()
        self._answer: urllib3.BaseHTTPResponse | None = None
        self._thread = threading.Thread(target=self._run, name=f"watch {path}", daemon=True)

    def start(self) -> None:
        """Begin to follow."""
        self._thread.start()

    def stop(self) -> None:
        """End; the handler is not called any more once this returns."""
        self._stopped.set()
        answer = self._answer
        if answer is not None:
            # It may have ended by itself since: then nothing reads it (urllib3 2.8, HTTPResponse.shutdown).
            with suppress(ValueError, RuntimeError):
                answer.shutdown()
        self._thread.join(RETRY_SECONDS + 5)

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._follow(self._list())
            except (ApiError, UnreachableError, urllib3.exceptions.HTTPError, json.JSONDecodeError) as error:
                # The server is busy or gone, or what was read is too old to go on from: begin again.
                LOG.debug("%s: %s", self._path, error)
            self._stopped.wait(RETRY_SECONDS)

    def _list(self) -> str:
        found = self._client.call("GET", self._path, parameters=self._parameters)
        for item in found.get("items") or ():
            self._call("ADDED", item)
        return str(found["metadata"]["resourceVersion"])

    def _follow(self, version: str) -> None:
        parameters = {**self._parameters, "watch": "1", "resourceVersion": version, "allowWatchBookmarks": "false"}
        with self._client.stream(self._path, parameters, READ_SECONDS) as answer:
            self._answer = answer
            for line in _lines(answer):
                if self._stopped.is_set():
                    return
                event = json.loads(line)
                if event["type"] == "ERROR":
                    raise ApiError(int(event["object"].get("code") or HTTPStatus.GONE), event["object"])
                self._call(event["type"], event["object"])

    def _call(self, change: str, obj: Object) -> None:
        if self._stopped.is_set():
            return
        try:
            self._handle(change, obj)
        except (ApiError, UnreachableError) as error:
            LOG.debug("%s %s: %s", change, self._path, error)
        except Exception:
            LOG.exception("%s of an object at %s was not handled", change, self._path)


def _lines(answer: urllib3.BaseHTTPResponse) -> Any:
    rest = b""
    for part in answer.stream(65536):
        *whole, rest = (rest + part).split(b"\n")
        yield from (line for line in whole if line)

"""Following a kind: the end of a watch, by itself and by `stop`. That changes arrive is tested with an API server."""

import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import urllib3

from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.waiting import Watch
from tests.support.patience import SECONDS


class Server:
    """Answers each watch at once with nothing, as a server that is being stopped."""

    def __init__(self) -> None:
        self.ended = threading.Event()

    def call(self, *_: Any, **__: Any) -> dict[str, Any]:
        return {"items": [], "metadata": {"resourceVersion": "7"}}

    @contextmanager
    def stream(self, *_: Any) -> Iterator[urllib3.HTTPResponse]:
        answer = urllib3.HTTPResponse(io.BytesIO(b""), preload_content=False)
        try:
            yield answer
        finally:
            answer.close()
            self.ended.set()


def test_a_watch_whose_answer_has_ended_can_be_stopped() -> None:
    server = Server()
    watch = Watch(cast("KubeClient", server), "/api/v1/ends", lambda *_: None)
    watch.start()
    assert server.ended.wait(SECONDS)
    watch.stop()
    assert not [each for each in threading.enumerate() if each.name == "watch /api/v1/ends"]

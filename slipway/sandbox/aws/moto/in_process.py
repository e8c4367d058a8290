"""Answering requests of our own clients with the moto of this process, without a socket.

A call over loopback, with its own connection and server thread, takes 4 ms of CPU; without a socket it takes 1.3 ms
(describe_vpcs, list_roles and others, 2 cores, 2026-11). A preview of stack prod makes 290 calls, its first `up` 560.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from werkzeug.test import EnvironBuilder, run_wsgi_app

Send = Callable[..., AWSResponse]
"""A handler of botocore's event `before-send`: botocore uses the returned answer and sends nothing."""


def send_to(application: Any) -> Send:
    """A handler that lets a WSGI application answer a client's requests."""

    def send(request: AWSPreparedRequest, **_: Any) -> AWSResponse:
        url = urlsplit(request.url)
        builder = EnvironBuilder(
            path=f"{url.path or '/'}?{url.query}",
            base_url=f"{url.scheme}://{url.netloc}",
            method=request.method,
            headers=[(name, _text(value)) for name, value in request.headers.items()],
            input_stream=io.BytesIO(_content(request.body)),
        )
        try:
            body, status, headers = run_wsgi_app(application, builder.get_environ(), buffered=True)
        finally:
            builder.close()
        return AWSResponse(request.url, int(status.split()[0]), dict(headers), _Raw(b"".join(body)))

    return send


class _Raw(io.BytesIO):
    """A response body with the interface that botocore expects of urllib3."""

    def stream(self) -> list[bytes]:
        return [self.read()]


def _content(body: Any) -> bytes:
    """The body of a request as bytes; botocore passes a string, bytes, a file or None."""
    content = body.read() if hasattr(body, "read") else body or b""
    return content.encode() if isinstance(content, str) else bytes(content)


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value

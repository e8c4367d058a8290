"""Smithy's RPC in CBOR, in which newer clients speak to CloudWatch: moto 5.2.5 knows it in JSON alone.

A request is translated to JSON and the answer back, by the model of its service (smithy.io, "Smithy RPC v2 CBOR
protocol"). CBOR has a kind for times, which JSON has as numbers.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Final

from botocore.model import ServiceModel, ShapeResolver, StructureShape
from botocore.parsers import RpcV2CBORParser
from botocore.serialize import RpcV2CBORSerializer
from moto.core.utils import get_service_model

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
_PATH: Final = re.compile(r"/service/(?P<target>\w+)/operation/(?P<operation>\w+)")
_SERVICES: Final = {"GraniteServiceVersion20100801": "cloudwatch"}
_ERROR: Final[Any] = ShapeResolver({
    "Text": {"type": "string"},
    "Error": {"type": "structure", "members": {"__type": {"shape": "Text"}, "message": {"shape": "Text"}}},
}).get_shape_by_name("Error")  # fmt: skip


def translated(application: Application) -> Application:
    """The application, which gets such requests in JSON."""

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        match = _PATH.fullmatch(environ.get("PATH_INFO", ""))
        if match is None or environ.get("HTTP_SMITHY_PROTOCOL") != "rpc-v2-cbor" or match["target"] not in _SERVICES:
            return application(environ, start_response)
        model = get_service_model(_SERVICES[match["target"]])
        said: list[str] = []
        body = b"".join(application(_in_json(environ, **match.groupdict()), lambda status, *_: said.append(status)))
        content = _in_cbor(model, match["operation"], json.loads(body or b"{}"), failed=not said[0].startswith("2"))
        headers = [("Content-Type", "application/cbor"), ("smithy-protocol", "rpc-v2-cbor")]
        start_response(said[0], [*headers, ("Content-Length", str(len(content)))])
        return [content]

    return answer


def _in_json(environ: dict[str, Any], target: str, operation: str) -> dict[str, Any]:
    content = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    parser: Any = RpcV2CBORParser()
    found = parser.parse_data_item(parser.get_peekable_stream_from_bytes(content)) if content else {}
    body = json.dumps(found, default=_plain).encode()
    return {
        **environ, "PATH_INFO": "/", "CONTENT_TYPE": "application/x-amz-json-1.0", "CONTENT_LENGTH": str(len(body)),
        "HTTP_X_AMZ_TARGET": f"{target}.{operation}", "wsgi.input": io.BytesIO(body),
        "RAW_URI": "/", "REQUEST_URI": "/",
    }  # fmt: skip


def _plain(value: Any) -> Any:
    return value.timestamp() if isinstance(value, datetime) else str(value)


def _in_cbor(model: ServiceModel, operation: str, answer: Any, *, failed: bool) -> bytes:
    shape = _ERROR if failed else model.operation_model(operation).output_shape
    if failed:
        answer = {
            "__type": str(answer.get("__type", "")),
            "message": str(answer.get("message", answer.get("Message", ""))),
        }
    content = bytearray()
    serializer: Any = RpcV2CBORSerializer()
    empty = StructureShape("Empty", {"type": "structure", "members": {}})
    serializer._serialize_data_item(content, answer if shape else {}, shape or empty)
    return bytes(content)

"""What AWS refuses of a request: by the rules of its operation, and by the limits of its service's model.

Every request is judged here, right before moto answers it and with moto's memory to itself: those of the provider and
those of boto3, the AWS CLI or any other program. What a preview plans is judged as the request that it would become.
"""

from __future__ import annotations

import functools
import json
import logging
import re
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final
from xml.sax.saxutils import escape

import moto
from botocore import xform_name
from botocore.model import ListShape, OperationModel, Shape, StructureShape
from moto.core.exceptions import ServiceException
from moto.core.responses import ActionResult, BaseResponse
from moto.s3.exceptions import S3ClientError
from moto.s3.responses import S3Response

from sandbox.aws import rules
from sandbox.aws.client import Aws
from sandbox.aws.limits import values
from sandbox.aws.moto import kept, live, questions, remembered
from sandbox.aws.rules import requests
from sandbox.aws.rules.names import wrong_tags

LOG = logging.getLogger(__name__)
OUTSIDE: Final = "slipway.outside"
"""Key of a request's environment: it came through the socket."""
_MOTO: Final = Path(moto.__file__).parent
Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
Problem = tuple[str, str]
"""The code and the words of a refusal."""


class Refused(ServiceException):
    """An answer with a code of the service: moto looks for one of its own classes in the module of the class."""


class S3RefusedError(Refused, S3ClientError):
    """The same from S3, which moto answers apart from the other services."""


def from_outside(application: Application) -> Application:
    """The application, for requests whose inputs nothing has checked."""

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        pages: list[str] = []

        def start(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            kind = next((value for name, value in headers if name.lower() == "content-type"), "")
            if status[:3] in ("404", "405") and kind.startswith("text/html"):
                pages.append(status)
                return len
            return start_response(status, headers, *rest)

        body = application({**environ, OUTSIDE: True}, start)
        return _unrouted(environ, start_response) if pages else body

    return answer


_SIGNED: Final = re.compile(r"Credential=[^/]+/\d+/[^/]+/([\w-]+)/")


def _unrouted(environ: Mapping[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """The answer to an operation whose path moto does not know, in the form of its service: moto has a page."""
    signed = _SIGNED.search(str(environ.get("HTTP_AUTHORIZATION", "")))
    service = signed[1] if signed else ""
    error = kept.unanswered(service, f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}")
    code, words, kind = str(error.code), str(error), "xml" if service in ("s3", "route53", "cloudfront") else "json"
    form = "<ErrorResponse><Error><Code>{}</Code><Message>{}</Message></Error></ErrorResponse>"
    body = json.dumps({"__type": code, "message": words}) if kind == "json" else form.format(code, escape(words))
    headers = [("Content-Type", f"application/{kind}"), ("x-amzn-ErrorType", code), ("Content-Length", str(len(body)))]
    start_response("400 Bad Request", headers)
    return [body.encode()]


def install() -> None:
    """Let moto's answers be judged first. A second call does nothing."""
    base: Any = BaseResponse
    original = base.call_action
    if hasattr(original, "__wrapped__"):
        return

    @functools.wraps(original)
    def call_action(self: Any) -> Any:
        try:
            for problem in _problems(self):
                raise Refused(*problem)
            answer = _kept(self)
            with suppress(Exception):
                # Now, because moto takes out of the parameters what it has read. What can't be read it refuses itself.
                self.slipway_asked = _asked(self)
            if answer is None:
                return _noted(self, *original(self))
            result = ActionResult(answer)
        except NotImplementedError:
            result = ActionResult(kept.unanswered(self.boto3_service_name, self._get_action()))
        except ServiceException as refused:
            result = ActionResult(refused)
        except Exception as error:
            if _MOTO not in Path(traceback.extract_tb(error.__traceback__)[-1].filename).parents:
                raise
            LOG.exception("moto fails at %s %s", self.boto3_service_name, self._get_action())
            result = ActionResult(kept.unanswered(self.boto3_service_name, self._get_action()))
        status, headers, body = self.serialized(result)
        headers, body = self._enrich_response(headers, body)
        return _noted(self, status, headers, body)

    base.call_action = call_action
    remembered.install(lambda response: getattr(response, "slipway_asked", None) or _asked(response))
    s3: Any = S3Response
    for name in ("_bucket_response", "_key_response"):
        setattr(s3, name, _of_s3(getattr(s3, name)))


def _noted(response: Any, status: int, headers: Any, body: Any) -> Any:
    """An answer, of which those to changes are counted."""
    operation = xform_name(response._get_action() or "")
    if not operation.startswith(requests.READS):
        given = getattr(response, "params", ())
        questions.answered(response.headers, operation, status, body, given)
    return status, headers, body


def _of_s3(original: Callable[..., Any]) -> Callable[..., Any]:
    """S3 has no `call_action`; what these two raise, it answers with."""

    @functools.wraps(original)
    def respond(self: Any, *args: Any, **more: Any) -> Any:
        try:
            for problem in _problems(self):
                raise S3RefusedError(*problem)
            answer = _kept(self)
            found = original(self, *args, **more) if answer is None else self.serialized(ActionResult(answer))
            return _noted(self, *found) if isinstance(found, tuple) else found
        except kept.KeptError as refused:
            raise S3RefusedError(str(refused.code), str(refused)) from refused
        except S3ClientError as refused:
            code = getattr(refused, "error_type", None) or getattr(refused, "code", "")
            _noted(self, HTTPStatus.BAD_REQUEST, {}, f"<Code>{code}</Code><Message>{refused}</Message>")
            raise

    return respond


def _problems(response: Any) -> Iterator[Problem]:
    service, action = response.boto3_service_name, response._get_action()
    operation, number = xform_name(action or ""), questions.of(response.headers)
    # What is there may be read, whatever the model says of its ARN: a log group's name has characters that its hasn't.
    reads = operation.startswith(requests.READS)
    number = None if reads else number
    if reads and not live.busy():
        # Whoever waits for EKS waits for work that has a deadline of its own.
        asked = f"{response.uri} {response.form_data} {response.raw_body!r}"
        if never := questions.looked(response.headers, operation, asked):
            yield never
            return
    outside = not reads and service in values.CODES and bool(response.normalized_request.environ.get(OUTSIDE))
    if not action or not (number or outside or rules.judges(service, operation)):
        return
    found: list[Problem] = []
    try:
        aws, model, parameters = _request(response)
        if not model.has_streaming_input:
            found = [*problems(aws, service, model, parameters, outside=outside, planned=bool(number))]
    except Exception:
        # Moto parses what it can itself.
        LOG.exception("%s %s is not judged", service, action)
    yield from [questions.answer(number, found)] if number else found


def _request(response: Any) -> tuple[Aws, OperationModel, Any]:
    """Who is asked, for which operation, and its parameters; of a stream none."""
    aws = Aws(live.behind().clients, response.region, response.current_account)
    services = aws.clients.get(response.boto3_service_name, aws.region).meta.service_model
    model = services.operation_model(response._get_action())
    if not response.automated_parameter_parsing and not model.has_streaming_input:
        response.parse_parameters(response.normalized_request)
    return aws, model, _named(model.input_shape, {} if model.has_streaming_input else response.params)


def _asked(response: Any) -> tuple[str, Mapping[str, Any], remembered.Given]:
    """An operation, what it sets, and what earlier ones set."""
    service, action = response.boto3_service_name, response._get_action() or ""
    if service == "s3" or (xform_name(action).startswith(requests.READS) and not action.endswith("Attributes")):
        aws = Aws(live.behind().clients, response.region, response.current_account)
        return action, {}, {} if service == "s3" else kept.store(aws, service).given
    aws, _, parameters = _request(response)
    return action, parameters, kept.store(aws, service).given


def _kept(response: Any) -> dict[str, Any] | None:
    """The answer of what is kept beside moto's objects; None if it isn't asked."""
    service, action = response.boto3_service_name, response._get_action()
    if not kept.answers(service, action):
        return None
    aws, model, parameters = _request(response)
    return kept.answer(aws, service, model, parameters)


def _named(shape: Shape | None, value: Any) -> Any:
    """Parameters under the model's names: moto 5.2.5 parses those of some services under others, and finds both."""
    if isinstance(shape, StructureShape) and isinstance(value, Mapping):
        found = {name: (member, value.get(name)) for name, member in shape.members.items()}
        return {name: _named(member, item) for name, (member, item) in found.items() if item is not None}
    if isinstance(shape, ListShape) and isinstance(value, list):
        return [_named(shape.member, item) for item in value]
    return value


def problems(
    aws: Aws, service: str, model: OperationModel, parameters: Mapping[str, Any], *, outside: bool, planned: bool
) -> Iterator[Problem]:
    """What is refused of an operation; with `outside` also tags, and what its model doesn't allow."""
    operation = xform_name(model.name)
    yield from requests.problems(aws, service, operation, parameters, planned=planned)
    if outside:
        yield from ((values.code(service, of), text) for of, text in wrong_tags(parameters))
    if outside and model.input_shape is not None:
        for text in values.of_request(service, model.input_shape, parameters):
            code, _, words = text.partition(": ")
            yield code, words
    yield from rules.problems(aws, service, operation, parameters, planned=planned)

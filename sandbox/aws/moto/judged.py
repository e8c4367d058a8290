"""What AWS refuses of a request: the rules of the types that its operation creates, changes or deletes, and the limits
of its service's model.

Every request is judged here, right before moto answers it and with moto's memory to itself: those of our provider and
those of boto3, the AWS CLI or any other program. Our provider asks limits and rules of the inputs alone at the preview
already (`sandbox.aws.provider`), so they are left out for its requests.
"""

from __future__ import annotations

import functools
import logging
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from botocore import xform_name
from botocore.model import ListShape, OperationModel, Shape, StructureShape
from moto.core.exceptions import ServiceException
from moto.core.responses import ActionResult, BaseResponse
from moto.core.utils import get_service_model
from moto.s3.exceptions import S3ClientError
from moto.s3.responses import S3Response

from sandbox.aws import rules, validators
from sandbox.aws.client import Aws, AwsError
from sandbox.aws.kinds import stated_problems
from sandbox.aws.limits import values
from sandbox.aws.limits.members import Member, of_one
from sandbox.aws.limits.operations import OPERATIONS
from sandbox.aws.moto import faults, kept, live, questions
from sandbox.aws.rules import requests
from sandbox.aws.rules.rule import Case, Inputs, Moment, Rule
from sandbox.aws.schema import schema
from sandbox.aws.shapes import from_api_value
from sandbox.aws.statements import Statement

LOG = logging.getLogger(__name__)
OUTSIDE: Final = "slipway.outside"
"""Key of a request's environment: it came through the socket."""
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
        return application({**environ, OUTSIDE: True}, start_response)

    return answer


def install() -> None:
    """Let moto's answers be judged first. A second call does nothing."""
    base: Any = BaseResponse
    original = base.call_action
    if hasattr(original, "__wrapped__"):
        return

    @functools.wraps(original)
    def call_action(self: Any) -> Any:
        status = 0
        try:
            if fault := _fault(self):
                status = fault.status
                raise Refused(fault.code, fault.text)
            for problem in _problems(self):
                raise Refused(*problem)
            answer = _kept(self)
            if answer is None:
                return _noted(self, *_made(self, functools.partial(original, self)))
            result = ActionResult(answer)
        except NotImplementedError:
            result = ActionResult(kept.unanswered(self.boto3_service_name, self._get_action()))
        except ServiceException as refused:
            result = ActionResult(refused)
        with warnings.catch_warnings():
            # Codes that all services of a protocol have are in no service's model.
            warnings.simplefilter("ignore", UserWarning)
            own, headers, body = self.serialized(result)
        status = status or own
        headers, body = self._enrich_response(headers, body)
        return _noted(self, status, headers, body)

    base.call_action = call_action
    s3: Any = S3Response
    for name in ("_bucket_response", "_key_response"):
        setattr(s3, name, _of_s3(getattr(s3, name)))


def _fault(response: Any) -> faults.Answer | None:
    """What a fault on request answers."""
    service, request = response.boto3_service_name, _name(response)
    if not request or not response.normalized_request.environ.get(OUTSIDE):
        return None
    faults.delay(request)
    if not (fault := faults.struck(request, *faults.ANSWERED)):
        return None
    return faults.answer(service, get_service_model(service).protocol, fault)


def _name(response: Any) -> str:
    action = response._get_action()
    return f"{response.boto3_service_name}:{action}" if action else ""


def _made(response: Any, make: Callable[[], Any]) -> Any:
    """Moto's answer, unless a fault loses it on the way, or lets the work that it begins fail."""
    request, environ = _name(response), response.normalized_request.environ
    if not request or not environ.get(OUTSIDE):
        return make()
    doomed = faults.struck(request, faults.FAILED)
    token = live.DOOMED.set(faults.TEXT if doomed else "")
    try:
        return make()
    finally:
        live.DOOMED.reset(token)
        if faults.struck(request, faults.LOST):
            faults.lose(environ)


def _noted(response: Any, status: int, headers: Any, body: Any) -> Any:
    """An answer, of which those to changes are counted."""
    operation = xform_name(response._get_action() or "")
    if not operation.startswith(requests.READS):
        questions.answered(response.headers, operation, status, body)
    return status, headers, body


def _of_s3(original: Callable[..., Any]) -> Callable[..., Any]:
    """S3 has no `call_action`; what these two raise, it answers with."""

    @functools.wraps(original)
    def respond(self: Any, *args: Any, **more: Any) -> Any:
        try:
            if fault := _fault(self):
                body = f"<Error><Code>{fault.code}</Code><Message>{fault.text}</Message></Error>"
                return _noted(self, fault.status, {}, body)
            for problem in _problems(self):
                raise S3RefusedError(*problem)
            answer = _kept(self)
            made = functools.partial(original, self, *args, **more)
            found = _made(self, made) if answer is None else self.serialized(ActionResult(answer))
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
    if not action:
        return
    operation, known = xform_name(action), service in values.CODES
    if (number := questions.of(response.headers)) and not operation.startswith(requests.READS):
        aws, _, parameters = _request(response)
        yield questions.answer(number, [*requests.problems(aws, service, operation, parameters, planned=True)])
        return
    outside = known and bool(response.normalized_request.environ.get(OUTSIDE))
    if not outside and not requests.judges(service, operation) and not _asked(service, operation, outside=False):
        return
    try:
        aws, model, parameters = _request(response)
    except Exception:
        # Moto parses what it can itself.
        LOG.exception("%s %s is not judged", service, action)
        return
    if not model.has_streaming_input:
        yield from problems(aws, service, operation, model.input_shape, parameters, outside=outside)


def _request(response: Any) -> tuple[Aws, OperationModel, Any]:
    """Who is asked, for which operation, and its parameters; of a stream none."""
    aws = Aws(live.behind().clients, response.region, response.current_account)
    services = aws.clients.get(response.boto3_service_name, aws.region).meta.service_model
    model = services.operation_model(response._get_action())
    if not response.automated_parameter_parsing and not model.has_streaming_input:
        response.parse_parameters(response.normalized_request)
    return aws, model, _named(model.input_shape, {} if model.has_streaming_input else response.params)


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
    aws: Aws, service: str, operation: str, shape: Shape | None, parameters: Mapping[str, Any], *, outside: bool = True
) -> Iterator[Problem]:
    """What is refused of an operation; with `outside` also for its parameters alone."""
    yield from requests.problems(aws, service, operation, parameters)
    if shape is not None and outside:
        for text in values.of_request(service, shape, parameters):
            code, _, words = text.partition(": ")
            yield code, words
        for change in of_operation().get((service, operation), ()):
            if change.moment is Moment.CREATE and validators.code(change.token):
                yield from _by_statements(aws, change.token, operation, parameters)
    for change, asked in _asked(service, operation, outside=outside):
        yield from _by_rules(aws, change, asked, operation, parameters)


def _by_statements(aws: Aws, token: str, operation: str, parameters: Mapping[str, Any]) -> Iterator[Problem]:
    """What the rows of `validators` refuse that are the service's own."""
    inputs, members = inputs_of(aws, token, operation, parameters)
    paths = {one.path for member in members.values() for one in member.all() if one.member}
    find, fields = validators.paths(token), schema(token)

    def about(path: str) -> Iterator[Statement]:
        above = path.rpartition(".")[0]
        for one in find.get(path, ()):
            # Of a property that no parameter stands for, nothing is known.
            named = {name[1:] if name.startswith("/") else f"{above}.{name}".strip(".") for name in one.names}
            if path in paths and named <= paths:
                yield one

    for failure in stated_problems(fields.inputs, inputs, about) if fields is not None else ():
        yield validators.code(token), failure.reason


@dataclass(frozen=True)
class Change:
    """What an operation does to an object of a type."""

    token: str
    moment: Moment


_OF_INPUTS: Final = frozenset({Moment.PREVIEW})
_MOMENTS: Final[Mapping[Moment, frozenset[Moment]]] = {
    Moment.CREATE: frozenset({Moment.CREATE}),
    Moment.UPDATE: frozenset({Moment.UPDATE, Moment.CHANGE}),
    Moment.DELETE: frozenset({Moment.DELETE}),
}


@functools.cache
def of_operation() -> Mapping[tuple[str, str], tuple[Change, ...]]:
    """What each operation of the tables does: the first of a type creates, its counterpart deletes, others change."""
    found: dict[tuple[str, str], dict[Change, None]] = {}

    def add(service: str, operation: str, token: str, moment: Moment) -> None:
        known = found.setdefault((service, operation), {})
        if not any(one.token == token for one in known):
            known[Change(token, moment)] = None

    for token, row in OPERATIONS.items():
        if not row.operations[0].startswith("describe_"):
            add(row.service, row.operations[0], token, Moment.CREATE)
        add(row.service, f"delete_{row.operations[0].partition('_')[2]}", token, Moment.DELETE)
        for operation in row.operations[1:]:
            if not operation.startswith("delete_"):
                add(row.service, operation, token, Moment.UPDATE)
    return {key: tuple(known) for key, known in found.items()}


@functools.cache
def _asked(service: str, operation: str, *, outside: bool) -> tuple[tuple[Change, tuple[Rule, ...]], ...]:
    """The rules that an operation may break, by what it does."""
    found = []
    for change in of_operation().get((service, operation), ()):
        moments = _MOMENTS[change.moment]
        if outside and change.moment is not Moment.DELETE:
            moments |= _OF_INPUTS
        # Without a code it is the provider that refuses, not AWS.
        asked = tuple(one for one in rules.BY_TYPE.get(change.token, ()) if one.code and one.moments & moments)
        if asked:
            found.append((change, asked))
    return tuple(found)


def inputs_of(
    aws: Aws, token: str, operation: str, parameters: Mapping[str, Any]
) -> tuple[dict[str, Any], Mapping[str, Member]]:
    """The inputs of a type that an operation's parameters stand for, and those of which the operation has a member."""
    known, fields = of_one(aws, token, operation), schema(token)
    if fields is None:
        return {}, {}
    given = {
        name: from_api_value(fields.inputs[name].kind, _at(parameters, member.member)) for name, member in known.items()
    }
    return {name: value for name, value in given.items() if value is not None}, known


def _at(parameters: Any, path: str) -> Any:
    """The value at a path; of a list with one item the item's."""
    for part in path.split("."):
        if isinstance(parameters, list) and len(parameters) == 1:
            parameters = parameters[0]
        parameters = parameters.get(part) if isinstance(parameters, Mapping) else None
    return parameters


def _by_rules(
    aws: Aws, change: Change, asked: Iterable[Rule], operation: str, parameters: Mapping[str, Any]
) -> Iterator[Problem]:
    inputs, members = inputs_of(aws, change.token, operation, parameters)
    if change.moment is Moment.UPDATE:
        asked = [one for one in asked if _heads(one) & set(inputs)]
    elif change.moment is Moment.CREATE:
        asked = [one for one in asked if _heads(one) <= set(members)]
    if not asked:
        return
    try:
        case = _case(aws, change, inputs, parameters)
        for one in asked:
            # Of an object that isn't known, nothing but the parameters.
            text = one.found(case) if case.id or case.old or _heads(one) <= set(members) else None
            if text:
                yield one.code, text
    except AwsError as error:
        # Of another service, asked about what the request names: its own code is none of this one's.
        service = OPERATIONS[change.token].service
        own = error.operation.startswith(f"{service} ")
        yield error.code if own else values.code(service, error.code.partition(".")[0]), error.text
    except (LookupError, TypeError, ValueError):
        # Parameters of another form than the rules read: moto says what it can't use.
        LOG.exception("%s of %s is not judged", operation, change.token)


def _heads(one: Rule) -> set[str]:
    return {path.partition(".")[0] for path in one.at}


def _case(aws: Aws, change: Change, inputs: Inputs, parameters: Mapping[str, Any]) -> Case:
    """What the rules read: before an update also what the object is, if its row says how to ask."""
    if change.moment is Moment.DELETE:
        ids = (str(value) for name, value in parameters.items() if name.endswith("Id"))
        return Case(change.token, aws, inputs, id=next(ids, ""))
    row = OPERATIONS[change.token]
    item = requests.fact(aws, row.read, parameters) if row.read and change.moment is Moment.UPDATE else None
    before = inputs_of(aws, change.token, row.operations[0], item)[0] if item else {}
    return Case(change.token, aws, _changed(before, inputs), before)


def _changed(before: Inputs, given: Inputs) -> dict[str, Any]:
    """The inputs after a change: what an object of the parameters leaves out stays."""
    merged = dict(before)
    for name, value in given.items():
        own = before.get(name)
        merged[name] = _changed(own, value) if isinstance(own, Mapping) and isinstance(value, Mapping) else value
    return merged

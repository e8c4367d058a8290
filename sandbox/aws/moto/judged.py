"""What AWS refuses of a request from outside: the limits and rules by which our provider judges a resource's inputs.

Our provider judges before it calls, at the preview already, so its own calls pass. A request of boto3, the AWS CLI or
any other program is judged here, by its operation: its parameters by the limits of the service's model, and, where the
operation creates one type of resource, the inputs that the parameters stand for by the rules of that type.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from botocore.model import Shape
from moto.core.exceptions import ServiceException
from moto.core.responses import ActionResult, BaseResponse

from sandbox.aws import rules
from sandbox.aws.client import Aws, AwsError
from sandbox.aws.limits import values
from sandbox.aws.limits.members import Member, tree
from sandbox.aws.mapping import Call
from sandbox.aws.moto import live
from sandbox.aws.rules.rule import Case, Moment
from sandbox.aws.schema import schema
from sandbox.aws.shapes import from_api_value
from sandbox.aws.types import MAPPINGS

LOG = logging.getLogger(__name__)
OUTSIDE: Final = "slipway.outside"
"""Key of a request's environment: it came through the socket."""
Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class Refused(ServiceException):
    """An answer with a code of the service: moto looks for one of its own classes in the module of the class."""


def from_outside(application: Application) -> Application:
    """The application, for requests that are judged."""

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
        refused = _refused(self) if self.normalized_request.environ.get(OUTSIDE) else None
        if refused is None:
            return original(self)
        status, headers, body = self.serialized(ActionResult(refused))
        headers, body = self._enrich_response(headers, body)
        return status, headers, body

    base.call_action = call_action


def _refused(response: Any) -> Refused | None:
    service, action = response.boto3_service_name, response._get_action()
    if service not in values.CODES or not action:
        return None
    aws = Aws(live.behind().clients, response.region, response.current_account)
    try:
        meta = aws.clients.get(service, aws.region).meta
        shape = meta.service_model.operation_model(action).input_shape
        operation = next(name for name, api in meta.method_to_api_mapping.items() if api == action)
        if not response.automated_parameter_parsing:
            response.parse_parameters(response.normalized_request)
    except Exception:
        # Moto parses what it can itself.
        LOG.exception("%s %s is not judged", service, action)
        return None
    for code, text in problems(aws, service, operation, shape, response.params):
        return Refused(code, text)
    return None


def problems(
    aws: Aws, service: str, operation: str, shape: Shape | None, parameters: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """The code and the words of each refusal."""
    if shape is not None:
        for text in values.of_request(service, shape, parameters):
            code, _, words = text.partition(": ")
            yield code, words
    token = of_operation().get((service, operation))
    if token is not None:
        yield from _by_rules(aws, token, operation, parameters)


@functools.cache
def of_operation() -> Mapping[tuple[str, str], str]:
    """The type that an operation creates, if it is one type alone and its inputs become parameters by name."""
    made: dict[tuple[str, str], list[str]] = {}
    for token, mapping in MAPPINGS.items():
        if isinstance(mapping.create, Call):
            made.setdefault((mapping.service, mapping.create.operation), []).append(token)
    return {key: tokens[0] for key, tokens in made.items() if len(tokens) == 1}


def inputs_of(aws: Aws, token: str, operation: str, parameters: Mapping[str, Any]) -> tuple[dict[str, Any], set[str]]:
    """The inputs of a type that an operation's parameters stand for, and those of which the operation has a member."""
    known, fields = tree(aws, token), schema(token)
    if known is None or fields is None:
        return {}, set()
    inputs: dict[str, Any] = {}
    members = {name: one for name, one in known.members.items() if one.operation == operation and one.member}
    for name, member in members.items():
        given = from_api_value(fields.inputs[name].kind, _at(parameters, member))
        if given is not None:
            inputs[name] = given
    return inputs, set(members)


def _at(parameters: Any, member: Member) -> Any:
    for part in member.member.split("."):
        parameters = parameters.get(part) if isinstance(parameters, Mapping) else None
    return parameters


def _by_rules(aws: Aws, token: str, operation: str, parameters: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    inputs, members = inputs_of(aws, token, operation, parameters)
    for one in rules.BY_TYPE.get(token, ()):
        # Without a code it is the provider that refuses, not AWS.
        if not one.code or not one.moments & {Moment.PREVIEW, Moment.CREATE}:
            continue
        if {path.partition(".")[0] for path in one.at} <= members:
            try:
                text = one.found(Case(token, aws, inputs))
            except AwsError as error:
                yield error.code, error.text
            else:
                if text:
                    yield one.code, text

"""What a request sets of an object and moto 5.2.5 forgets: a description has it as it was set.

A provider waits until an attribute has the value that it set, and takes what is missing for a change. So the parameters
of what makes or changes an object are kept beside moto's objects of the service, and a member that moto has no value
for has that of the parameter of the same name and kind.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

from botocore.model import Shape, StructureShape
from moto.core.responses import BaseResponse
from moto.core.serialize import ResponseSerializer

from sandbox.aws.rules.policies import listed

Given = dict[tuple[str, str], dict[str, Any]]
"""Parameters by the member that names an object, and its value."""
_MAKES: Final = re.compile(r"(?:Create|Allocate|Request|Run)(\w+?)s?")
_CHANGES: Final = re.compile(r"(?:Modify|Update|Put|Set|Enable)(\w+)")
_MAP: Final = "Attributes"
_NAMES: Final = ("Id", "Identifier", "Arn", "ARN", "Name")
_KINDS: Final[Mapping[str, type]] = {"string": str, "boolean": bool, "integer": int, "structure": dict, "list": list}


@dataclass(frozen=True)
class _Answered:
    """An operation, while it is answered."""

    given: Given
    parameters: Mapping[str, Any]
    made: str = ""
    """What it makes, as in its name."""


_NOW: Final[ContextVar[_Answered | None]] = ContextVar("answered", default=None)


def install(request: Callable[[Any], tuple[str, Mapping[str, Any], Given]]) -> None:
    """Let answers have it. A second call does nothing.

    Args:
        request: The operation of a response, its parameters under the model's names, and what is known of the service's
            objects.
    """
    base, serializer = vars(BaseResponse), vars(ResponseSerializer)
    answer, pick = base["serialized"], serializer["get_value"]
    if hasattr(answer, "__wrapped__"):
        return

    @functools.wraps(answer)
    def serialized(self: Any, action_result: Any) -> Any:
        now = None if isinstance(action_result.result, Exception) else _answered(*request(self))
        token = _NOW.set(now)
        try:
            return answer(self, action_result)
        finally:
            _NOW.reset(token)

    @functools.wraps(pick)
    def get_value(self: Any, value: Any, key: str, shape: Shape) -> Any:
        found, now, parent = pick(self, value, key, shape), _NOW.get(), getattr(shape, "parent", None)
        if now is None:
            return found
        one = key.removesuffix("s")
        if now.made and one.lower().startswith(now.made.lower()) and one.endswith(_NAMES):
            # `FlowLogIds` of CreateFlowLogs.
            now.given.update({(one, each): dict(now.parameters) for each in listed(found) if isinstance(each, str)})
        if key == _MAP and isinstance(found, dict):
            # GetTopicAttributes names the topic in its parameters.
            for item in now.parameters.items():
                found = {**now.given.get(item, {}).get(_MAP, {}), **found} if item[0].endswith(_NAMES) else found
        if found is not None or not now.given or not isinstance(parent, StructureShape):
            return found
        for name, member in parent.members.items():
            known = name.endswith(_NAMES) and now.given.get((name, str(pick(self, value, name, member))))
            # EnablePerformanceInsights sets PerformanceInsightsEnabled.
            of = key if not known or key in known else f"Enable{key.removesuffix('Enabled')}"
            given = known.get(of) if known else None
            # An attribute of EC2 is in a structure of its own (EC2 API Reference, AttributeBooleanValue).
            given = given["Value"] if isinstance(given, Mapping) and set(given) == {"Value"} else given
            if isinstance(given, _KINDS.get(shape.type_name, ())):
                # An empty text has taken the value away (EKS API Reference, UpdateAddon, configurationValues).
                return found if given == "" else given
        return found

    patched: Any = BaseResponse
    patched.serialized = serialized
    patched = ResponseSerializer
    patched.get_value = get_value


def _answered(operation: str, parameters: Mapping[str, Any], given: Given) -> _Answered:
    parameters = {name: value for name, value in parameters.items() if "Tag" not in name}
    made, changed = _MAKES.fullmatch(operation), _CHANGES.fullmatch(operation)
    for what, known in ((made, {}), (changed, given)):
        for name, value in parameters.items() if what else ():
            end = next((one for one in _NAMES if name.endswith(one)), "")
            # `SubnetId` of ModifySubnetAttribute.
            if what and end and what[1].lower().startswith(name.removesuffix(end).lower()):
                given[name, str(value)] = _merged(known.get((name, str(value)), {}), parameters)
    return _Answered(given, parameters, made[1] if made else "")


def _merged(known: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """What is known of an object, changed by parameters: one attribute by its name, or members."""
    name, found = parameters.get("AttributeName"), {**known, **parameters}
    attributes = {name: parameters.get("AttributeValue")} if name else parameters.get(_MAP)
    if isinstance(attributes, Mapping):
        found[_MAP] = {**known.get(_MAP, {}), **attributes}
    return found

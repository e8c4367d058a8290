"""What a request sets of an object and moto 5.2.5 forgets: a description has it as it was set.

A provider waits until an attribute has the value that it set, and takes what is missing for a change. So the parameters
of what makes or changes an object are kept beside moto's objects of the service, and a member that moto has no value
for has that of the parameter of the same name and kind. A number, a boolean or a word of an enumeration that moto has
otherwise, because it knows one value alone, is as it was set, too, until moto's value changes.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

from botocore.model import Shape, StringShape, StructureShape
from moto.core.responses import BaseResponse
from moto.core.serialize import ResponseSerializer

from sandbox.aws.rules.policies import listed
from sandbox.aws.shapes import as_text

Given = dict[tuple[str, str], dict[str, Any]]
"""Parameters by the member that names an object, and its value."""
_MAKES: Final = re.compile(r"(?:Create|Request|Run)(\w+?)s?")
_CHANGES: Final = re.compile(r"(?:Modify|Update|Put|Set|Enable)(\w+)")
_RELATES: Final = re.compile(r"(Associate|Allocate)\w+")
_RELATIONS: Final = ("association", "allocation")
"""What has an ID of its own beside that of the object: of an address, both."""
_ANSWER: Final = re.compile("^(?:Get|Describe)|(?:Response|Result|Output)$")
_MAP: Final = "Attributes"
_MOTOS: Final = ""
"""What moto had when it first answered after a member was set; the name of no parameter."""
_NAMES: Final = ("Id", "Identifier", "Arn", "ARN", "Name")
_KINDS: Final[Mapping[str, type]] = {"string": str, "boolean": bool, "integer": int, "structure": dict, "list": list}


@dataclass(frozen=True)
class _Answered:
    """An operation, while it is answered."""

    given: Given
    parameters: dict[str, Any]
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
        made, base = now.made.lower(), _base(one)
        if made and base and one.endswith(_NAMES) and (base.startswith(made) or base in made):
            # `FlowLogIds` of CreateFlowLogs. The VPC of CreateVpcEndpoint was made before.
            own = now.parameters if isinstance(found, str) else dict(now.parameters)
            names = [(one, each) for each in listed(found) if isinstance(each, str)]
            now.given.update({each: own for each in names if base.startswith(made) or each not in now.given})
        if key == _MAP and isinstance(found, dict):
            # GetTopicAttributes names the topic in its parameters.
            for item in now.parameters.items():
                found = {**now.given.get(item, {}).get(_MAP, {}), **found} if item[0].endswith(_NAMES) else found
        if not now.given or not isinstance(parent, StructureShape):
            return found
        counted = shape.type_name in ("boolean", "integer") or (isinstance(shape, StringShape) and shape.enum)
        if not (found is None or counted or "AssociationId" in parent.members):
            return found
        about = _ANSWER.sub("", parent.name).lower()
        for name in [one for one in parent.members if one.endswith(_NAMES) and _is_own(about, one)]:
            known = now.given.get((name, str(pick(self, value, name, parent.members[name]))), {})
            # EnablePerformanceInsights sets PerformanceInsightsEnabled.
            of = key if key in known else f"Enable{key.removesuffix('Enabled')}"
            given = known.get(of)
            # An attribute of EC2 is in a structure of its own (EC2 API Reference, AttributeBooleanValue).
            given = given["Value"] if isinstance(given, Mapping) and set(given) == {"Value"} else given
            if not isinstance(given, _KINDS.get(shape.type_name, ())):
                continue
            if found is None:
                # An empty text has taken the value away (EKS API Reference, UpdateAddon, configurationValues).
                return found if given == "" else given
            if known.setdefault(_MOTOS, {}).setdefault(of, found) == found and as_text(given) != as_text(found):
                return given
        return found

    patched: Any = BaseResponse
    patched.serialized = serialized
    patched = ResponseSerializer
    patched.get_value = get_value


def _base(name: str) -> str:
    """What a member names: `subnet` of `SubnetId`."""
    return name.removesuffix(next((one for one in _NAMES if name.endswith(one)), "")).lower()


def _is_own(about: str, name: str) -> bool:
    """Whether a member names the structure that it is in: a subnet has the ID of its VPC, too."""
    return about.startswith(_base(name)) or about.endswith(_base(name)) or _base(name) in _RELATIONS


def _answered(operation: str, parameters: Mapping[str, Any], given: Given) -> _Answered:
    parameters = {name: value for name, value in parameters.items() if "Tag" not in name}
    made, changed = _MAKES.fullmatch(operation), _CHANGES.fullmatch(operation)
    match, own = made or changed, dict[str, Any]()
    _merge(own, parameters)
    for name, value in parameters.items():
        named, base = (name, str(value)), _base(name)
        if name.endswith(_NAMES) and match and base in match[1].lower():
            # `SubnetId` of ModifySubnetAttribute; the VPC of CreateVpcEndpoint was made before.
            if changed:
                _merge(given.setdefault(named, {}), parameters)
            elif named not in given or base in ("", match[1].lower()):
                given[named] = own
        elif known := given.get(named, {}):
            # `DesiredCapacity` of SetDesiredCapacity.
            _merge(known, {of: value for of, value in parameters.items() if of in known})
    relates = _RELATES.fullmatch(operation)
    return _Answered(given, own, made[1] if made else f"{relates[1][:-1]}ion" if relates else "")


def _merge(known: dict[str, Any], parameters: Mapping[str, Any]) -> None:
    """Change what is known of an object by parameters: one attribute by its name, or members."""
    name, before = parameters.get("AttributeName"), known.get(_MAP, {})
    known.update(parameters)
    for of in parameters:
        known.get(_MOTOS, {}).pop(of, None)
    attributes = {name: parameters.get("AttributeValue")} if name else parameters.get(_MAP)
    if isinstance(attributes, Mapping):
        known[_MAP] = {**before, **attributes}

"""Finding at preview what AWS would refuse: checks the parameters of the create call against the API's own model.

botocore finds missing parameters, wrong types and values out of range; the model's enumerations are checked here, as in
the AWS provider. Values that are not known yet are not checked.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from botocore.model import ListShape, MapShape, Shape, StringShape, StructureShape
from botocore.validate import ParamValidator

from slipway.sandbox.aws.client import Aws
from slipway.sandbox.aws.lifecycle import Lifecycle
from slipway.sandbox.aws.mapping import Call, Inputs, ResourceMapping
from slipway.sandbox.aws.schema import Schema
from slipway.sandbox.aws.shapes import normal
from slipway.sandbox.rpc.hooks import Failure
from slipway.sandbox.rpc.wire import UNKNOWN, has_unknown

# New instance types appear between releases of botocore; the AWS provider does not check them either.
_OPEN_LISTS = frozenset({"InstanceType"})


def check(aws: Aws, schema: Schema, mapping: ResourceMapping, inputs: Inputs) -> list[Failure]:
    """The problems with the inputs of a mapped type, each with its property if that can be determined."""
    failures = list(_exactly_one(mapping, inputs))
    if failures or not isinstance(mapping.create, Call) or not _adaptable(mapping.create, inputs):
        return failures
    known = Lifecycle(aws, schema, mapping)
    parameters = known.create_parameters(mapping.create, known.sent(inputs))
    shape = aws.input_shape(mapping.service, mapping.create.operation)
    named = {normal(mapping.create.rename.get(name, name)): name for name in inputs}
    problems = [*_missing_or_wrong(shape, parameters), *_words(shape, parameters, "")]
    return [Failure(_property(named, path), reason) for path, reason in problems]


def _adaptable(create: Call, inputs: Inputs) -> bool:
    """Whether the mapping's `adapt` function can read the inputs, which it can't if one of them is unknown."""
    return create.adapt is None or not has_unknown(dict(inputs))


def _exactly_one(mapping: ResourceMapping, inputs: Inputs) -> Iterable[Failure]:
    for group in mapping.exactly_one:
        present = [name for name in group if inputs.get(name) is not None]
        if len(present) != 1:
            got = " and ".join(present) or "none of them"
            yield Failure(group[0], f"exactly one of {', '.join(group)} is required, got {got}")


def _missing_or_wrong(shape: StructureShape, parameters: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """The problems that botocore finds. Only this private attribute has them one by one (botocore 1.44)."""
    report = ParamValidator().validate(parameters, shape)
    tokens = {name for name, member in shape.members.items() if "idempotencyToken" in member.metadata}
    for kind, path, details in report._errors:
        if details.get("required_name") in tokens or details.get("param") == UNKNOWN:
            continue
        one = type(report)()
        one._errors = [(kind, path, details)]
        yield f"{path}.{details.get('required_name', '')}", one.generate_report()


def _words(shape: Shape, value: Any, path: str) -> Iterable[tuple[str, str]]:
    if isinstance(shape, StructureShape) and isinstance(value, Mapping):
        for name, item in value.items():
            if name in shape.members:
                yield from _words(shape.members[name], item, f"{path}.{name}")
    elif isinstance(shape, ListShape) and isinstance(value, list):
        for index, item in enumerate(value):
            yield from _words(shape.member, item, f"{path}[{index}]")
    elif isinstance(shape, MapShape) and isinstance(value, Mapping):
        for key, item in value.items():
            yield from _words(shape.value, item, f"{path}.{key}")
    elif isinstance(shape, StringShape) and isinstance(value, str) and _is_not_allowed(shape, value):
        yield path, f"{value!r} is not one of AWS's values{_hint(value, shape.enum)}"


def _is_not_allowed(shape: StringShape, word: str) -> bool:
    return bool(shape.enum) and shape.name not in _OPEN_LISTS and word not in (*shape.enum, UNKNOWN)


def _hint(value: str, words: list[str]) -> str:
    by_lower = {word.lower(): word for word in words}
    close = difflib.get_close_matches(value.lower(), by_lower, n=1, cutoff=0.6)
    return f"; did you mean {by_lower[close[0]]!r}?" if close else f": {', '.join(sorted(words))}"


def _property(named: Mapping[str, str], path: str) -> str:
    """The input that a parameter comes from; AWS's path of the parameter if no input matches."""
    parts = [part.split("[")[0] for part in path.strip(".").split(".")]
    return next((named[normal(part)] for part in parts if normal(part) in named), path.strip("."))

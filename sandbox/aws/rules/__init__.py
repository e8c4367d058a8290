"""All rules by type, and their evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType, ModuleType

from sandbox.aws.client import Aws, AwsError
from sandbox.aws.limits.operations import OPERATIONS
from sandbox.aws.rules import ec2, eks_cluster, eks_nodes, iam, names, references, storage
from sandbox.aws.rules.rule import Case, Inputs, Moment, Rule, value
from sandbox.rpc.hooks import Failure
from sandbox.rpc.wire import has_unknown


def _of(module: ModuleType) -> Iterator[Rule]:
    """What a module defines: rules, and tuples of rules that it makes of tables."""
    for one in vars(module).values():
        yield from (each for each in (one if isinstance(one, tuple) else (one,)) if isinstance(each, Rule))


_MODULES = (names, ec2, eks_cluster, eks_nodes, iam, references, storage)
ALL: tuple[Rule, ...] = tuple(one for module in _MODULES for one in _of(module))
"""Every rule."""


def _by_type() -> Mapping[str, tuple[Rule, ...]]:
    types = {token for one in ALL for token in one.types}
    return MappingProxyType({token: tuple(one for one in ALL if token in one.types) for token in types})


BY_TYPE = _by_type()


def problems(aws: Aws, type_token: str, inputs: Inputs) -> list[Failure]:
    """What AWS would refuse of the inputs alone, as far as they are known."""
    case = Case(type_token, aws, inputs)
    return [
        Failure(one.at[0], f"{one.code}: {text}" if one.code else text) for one, text in _found(Moment.PREVIEW, case)
    ]


def refuse(moment: Moment, case: Case) -> None:
    """Raise the AwsError with which AWS would refuse a change."""
    for one, text in _found(moment, case):
        raise AwsError(_operation(case.type, moment), one.code, text)


def _found(moment: Moment, case: Case) -> list[tuple[Rule, str]]:
    rules = [one for one in BY_TYPE.get(case.type, ()) if moment in one.moments and _is_known(one, case.new)]
    found = ((one, one.found(case)) for one in rules)
    return [(one, text) for one, text in found if text]


def _is_known(one: Rule, inputs: Inputs) -> bool:
    return not any(has_unknown(value(inputs, path)) for path in one.at)


def _operation(type_token: str, moment: Moment) -> str:
    _, module, name = type_token.split(":")
    known = OPERATIONS.get(type_token)
    verb = known.operations[0] if known and moment is Moment.CREATE else f"{moment.value} {name}"
    return f"{known.service if known else module.partition('/')[0]} {verb}"

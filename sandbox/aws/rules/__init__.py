"""The rules in Python of what AWS refuses of a request, whichever program sends it."""

from __future__ import annotations

import functools
import logging
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

from sandbox.aws.client import Aws, AwsError
from sandbox.aws.limits.values import code
from sandbox.aws.rules import ec2, eks_cluster, eks_nodes, iam, names, principals, requests, storage
from sandbox.aws.rules.requests import Parameters, Problem
from sandbox.aws.rules.rule import TABLES, Case, Rule
from sandbox.rpc.wire import UNKNOWN

LOG = logging.getLogger(__name__)


def _of(module: ModuleType) -> Iterator[Rule]:
    """What a module defines: rules, and tuples of rules that it makes of tables."""
    for one in vars(module).values():
        yield from (each for each in (one if isinstance(one, tuple) else (one,)) if isinstance(each, Rule))


ALL: tuple[Rule, ...] = tuple(
    one for module in (names, ec2, eks_cluster, eks_nodes, iam, principals, storage) for one in _of(module)
)
"""Every rule in Python."""


@functools.cache
def of(service: str, operation: str) -> tuple[Rule, ...]:
    """The rules of an operation."""
    return tuple(one for one in ALL if f"{service}.{operation}" in one.on)


def judges(service: str, operation: str) -> bool:
    """Whether a request of this kind may be refused here."""
    return bool(of(service, operation)) or requests.judges(service, operation)


def problems(
    aws: Aws, service: str, operation: str, parameters: Parameters, *, planned: bool = False
) -> Iterator[Problem]:
    """What the rules in Python refuse of a request; of a planned one, by what can't change until it is sent."""
    asked = [one for one in of(service, operation) if not (planned and one.live) and _is_known(one, parameters)]
    if not asked:
        return
    fact = TABLES["before"].get(f"{service}.{operation}")
    case = Case(aws, parameters, (requests.fact(aws, fact, parameters) if fact else None) or {})
    for one in asked:
        try:
            said = one.found(case)
        except AwsError as error:
            # Of another service, asked about what the request names: its own code is none of this one's.
            own = error.operation.startswith(f"{service} ")
            yield error.code if own else code(service, error.code.partition(".")[0]), error.text
        except (LookupError, TypeError, ValueError):
            # Parameters of another form than the rules read: moto says what it can't use.
            LOG.exception("%s of %s is not judged", operation, one.name)
        else:
            if said:
                yield one.code, said


def _is_known(one: Rule, parameters: Mapping[str, Any]) -> bool:
    return not any(UNKNOWN in str(requests.search(path, parameters)) for path in one.at)

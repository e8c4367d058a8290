"""Asking the account at preview what it would refuse of a planned creation or update: nothing is changed by that.

The calls are those that the change would make, up to the first whose parameters need what the account would answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from sandbox.aws.client import Aws, AwsError
from sandbox.aws.lifecycle import Lifecycle
from sandbox.aws.limits.members import tree
from sandbox.aws.mapping import ALWAYS, Inputs, ResourceMapping
from sandbox.aws.rules import requests
from sandbox.aws.schema import Schema
from sandbox.aws.shapes import to_api
from sandbox.rpc.errors import ProviderError
from sandbox.rpc.wire import UNKNOWN


class RefusedError(AwsError):
    """What the account would refuse."""


@dataclass(frozen=True)
class Asking(Aws):
    """The account, which only says what it would refuse; what reads is answered."""

    def call(self, service: str, operation: str, **parameters: Any) -> dict[str, Any]:
        """Raises RefusedError if it would refuse the request."""
        if operation.startswith(requests.READS):
            return super().call(service, operation, **parameters)
        for code, text in requests.problems(self, service, operation, parameters, planned=True):
            name = f"{service} {operation}"
            raise RefusedError(name, code, text)
        return {}


def _of(aws: Aws) -> Asking:
    return Asking(**{one.name: getattr(aws, one.name) for one in fields(aws)})


def creation(aws: Aws, known: Schema, mapping: ResourceMapping | None, inputs: Inputs) -> None:
    """Ask about a creation. Raises RefusedError."""
    account = _of(aws)
    if mapping is None:
        _record(account, known.type, inputs)
        return
    lifecycle = Lifecycle(account, known, mapping)
    sent = lifecycle.sent(inputs)
    _tried(lifecycle.begin, sent)
    for setting in mapping.settings:
        if setting.at_create and ALWAYS not in setting.keys and (setting.is_general or set(setting.keys) & set(inputs)):
            _tried(lifecycle.apply, setting, UNKNOWN, sent)


def update(
    aws: Aws, known: Schema, mapping: ResourceMapping | None, id: str, inputs: Inputs, changed: set[str] | None
) -> None:
    """Ask about an update of these inputs. Raises RefusedError."""
    if mapping is None or changed is None:
        return
    lifecycle = Lifecycle(_of(aws), known, mapping)
    sent = {**mapping.defaults, **lifecycle.sent(inputs)}
    for setting in mapping.settings_for(changed):
        if ALWAYS not in setting.keys:
            _tried(lifecycle.apply, setting, id, sent)


def _record(account: Asking, type_token: str, inputs: Inputs) -> None:
    """A record's creation, by the members of its first operation."""
    known = tree(account, type_token)
    if known is None:
        return
    service, operation = known.operations.service, known.operations.operations[0]
    parameters: dict[str, Any] = {}
    for name, member in known.members.items():
        if member.operation == operation and member.shape is not None and member.member and name in inputs:
            *above, last = member.member.split(".")
            place = parameters
            for part in above:
                place = place.setdefault(part, {})
            if isinstance(place, dict):
                place[last] = to_api(member.shape, inputs[name])
    account.call(service, operation, **parameters)


def _tried(step: Callable[..., Any], *arguments: Any) -> None:
    """A step, which may need what only an answer has."""
    try:
        step(*arguments)
    except RefusedError:
        raise
    except (ProviderError, LookupError, TypeError, ValueError, AttributeError):
        return

"""Evaluates changes with the policy pack, on the recorded program of stack prod."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any

from policies.resources.resource import Resource
from tests.adversary.probe import Change
from tests.policies.production import Production, changed


@cache
def production() -> Production:
    stack = Production()
    assert stack.before is not None, "read before any change"
    return stack


def ask(probe: Change) -> str:
    """The checks that report the change; empty if none does."""
    stack = production()
    with ExitStack() as stay:
        kinds = {probe.type} if probe.type else {stack.named(probe.name)[0].type}
        if probe.type:
            stay.enter_context(stack.with_resource(_added(probe)))
        elif probe.removed:
            # What a rule misses belongs to other resources.
            kinds = {one.type for one in stack.inputs}
            stay.enter_context(stack.without_resource(probe.name))
        else:
            for one in stack.named(probe.name):
                stay.enter_context(changed(one, probe.edits))
                stay.enter_context(with_options(one, probe.options))
        return ", ".join(sorted(stack.new_violations(kinds)))


def _added(probe: Change) -> Resource:
    return Resource(
        type=probe.type, name="it", urn=f"urn:pulumi:prod::slipway::{probe.type}::it", read=lambda: dict(probe.props),
        provider=probe.provider, **probe.options,
    )  # fmt: skip


@contextmanager
def with_options(one: Resource, options: Mapping[str, Any]) -> Iterator[None]:
    """Change options of a resource temporarily."""
    before = {name: getattr(one, name) for name in options}
    one.__dict__.update(options)
    try:
        yield
    finally:
        one.__dict__.update(before)

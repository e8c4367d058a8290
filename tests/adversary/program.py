"""Evaluates changes with the policy pack, on the recorded program of stack prod."""

from __future__ import annotations

from functools import cache

from policies.resources.resource import Resource
from tests.adversary.probe import Change
from tests.policies.production import Production


@cache
def production() -> Production:
    return Production()


def ask(probe: Change) -> str:
    """The checks that report the change; empty if none does."""
    stack = production()
    assert stack.before is not None
    added = Resource(
        type=probe.type, name="it", urn=f"urn:pulumi:prod::slipway::{probe.type}::it", read=lambda: dict(probe.props),
        provider={"region": "us-east-1", "allowedAccountIds": ["444455556666"]},
        **probe.options,
    )  # fmt: skip
    with stack.with_resource(added):
        return ", ".join(sorted(stack.new_violations({probe.type})))

"""Finding at preview what AWS would refuse of the inputs alone: by its service models (`limits`), and by `rules`.

Values that are not known yet are not checked. In an `up` the engine asks again once they are known.
"""

from __future__ import annotations

from collections.abc import Iterable

from slipway.sandbox.aws import rules
from slipway.sandbox.aws.client import Aws
from slipway.sandbox.aws.limits import values
from slipway.sandbox.aws.mapping import Inputs, ResourceMapping
from slipway.sandbox.rpc.hooks import Failure


def check(aws: Aws, type_token: str, mapping: ResourceMapping | None, inputs: Inputs) -> list[Failure]:
    """The problems with the inputs of a type, each with its property; a rule repeats nothing that a model says."""
    failures = list(_exactly_one(mapping, inputs)) if mapping is not None else []
    if failures:
        return failures
    failures = values.check(aws, type_token, inputs)
    reported = {one.property for one in failures}
    return [*failures, *(one for one in rules.problems(aws, type_token, inputs) if one.property not in reported)]


def _exactly_one(mapping: ResourceMapping, inputs: Inputs) -> Iterable[Failure]:
    for group in mapping.exactly_one:
        present = [name for name in group if inputs.get(name) is not None]
        if len(present) != 1:
            got = " and ".join(present) or "none of them"
            yield Failure(group[0], f"exactly one of {', '.join(group)} is required, got {got}")

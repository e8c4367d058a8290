"""Values of Kubernetes Secrets that the program itself contains."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pulumi_policy import Severity

from policies.levels import Levels
from policies.resources.resource import Stack
from policies.resources.tokens import SECRET
from policies.rule import Check, Context, Setting, StackRule, Violation, everywhere

_DATA: Final = ("data", "stringData")
_OF_CLUSTER: Final = "kubernetes.io/service-account-token"
"""The cluster fills in the token (kubernetes.io, "Secrets", types)."""


def _written(stack: Stack, context: Context) -> Iterator[Violation]:
    """A value from another resource, such as a password of RDS, is not in the program. The message names no value."""
    for secret in stack.of(SECRET):
        filled = secret["type"].unknown or secret["type"].raw == _OF_CLUSTER
        if filled or any(secret.sources.get(key) for key in _DATA):
            continue
        for key in _DATA:
            for name, node in secret[key].fields().items():
                if node.known and node.raw != "" and name not in context.settings["keys"]:
                    yield Violation(path=node.path, got="a value that the program contains", at=secret)


SECRETS_ELSEWHERE = StackRule(
    name="secret-values-elsewhere",
    title="Secrets of the cluster take their values from other resources",
    types=(SECRET,),
    severity=Severity.HIGH,
    levels=Levels("A/M/M"),
    why="A value in the program is in the repository and in the state, and everybody who can read either has it; "
    "nobody rotates it.",
    fix="Let RDS or Secrets Manager make it and take it from there, or create the Secret outside the program.",
    settings={
        "keys": Setting(
            asks="keys of Secrets whose values are no secrets",
            schema={"type": "array", "items": {"type": "string"}},
            values=everywhere(["username"]),
        )
    },
    checks={"value": Check(asks="must come from another resource", find=_written)},
)

RULES: Final = (SECRETS_ELSEWHERE,)

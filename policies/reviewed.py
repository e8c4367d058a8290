"""Resource types that somebody has reviewed: those that rules evaluate, and those that the program declares.

A type is added to reviewed.yaml when a component declares it, after a review of what it can do: run a command, grant
access, open a network, or hide other resources from the rules (as `*List` and `*Patch` kinds, and charts rendered by
the SDK, do). A test compares the list with the program. The types are spelled out, because a prefix such as `slipway:`
or `kubernetes:core/v1:` includes types that nobody has reviewed.
"""

from typing import Final

from policies.resources import tokens
from spec import strict_yaml

_EVALUATED: Final = frozenset(
    value for name, value in vars(tokens).items() if name.isupper() and isinstance(value, str)
)
DECLARED: Final[frozenset[str]] = frozenset(strict_yaml.beside(__file__))
"""Types that the program declares and that no rule names."""

REVIEWED: Final = _EVALUATED | DECLARED  # all reviewed types

"""Named defaults for pools, so that a stack file says only what differs.

Plain data in the spelling of the stack file: `load` merges a pool's own keys over its preset's before validation.
"""

from collections.abc import Mapping
from typing import Any, Final

from spec import strict_yaml

PRESETS: Final[Mapping[str, Mapping[str, Any]]] = strict_yaml.beside(__file__)

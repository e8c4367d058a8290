"""Every type of AWS resource that the program may create: its services on the bill, or why it is free."""

from collections.abc import Mapping
from typing import Any, Final

from spec import strict_yaml

_ROWS: Final[Mapping[str, Any]] = strict_yaml.beside(__file__)
PRICED: Final[Mapping[str, tuple[str, ...]]] = {token: tuple(services) for token, services in _ROWS["priced"].items()}
FREE: Final[Mapping[str, str]] = _ROWS["free"]

"""Credentials in texts, by the formats of their issuers."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from spec.catalog.document import load

FORMATS: Final[Mapping[str, re.Pattern[str]]] = {
    name: re.compile(pattern) for name, pattern in load("credentials.yaml")["formats"].items()
}
SHORTEST: Final = len("xoxb-") + 10
"""The shortest text that matches a format, but for addresses: most texts of a resource are shorter."""


def credentials(text: str) -> Iterator[str]:
    """Formats of the credentials in a text."""
    return (name for name, pattern in FORMATS.items() if len(text) >= SHORTEST and pattern.search(text))

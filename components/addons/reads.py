"""Reads of add-ons that IAM can't limit to a resource, by add-on: reads.yaml."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from spec import strict_yaml

READS: Final[Mapping[str, Sequence[str]]] = strict_yaml.read(
    Path(__file__).with_name("reads.yaml").read_text(encoding="utf-8")
)

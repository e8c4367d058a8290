"""What has become old since the shipped stacks and facts were written, for the summary of a test run."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Final

import yaml

from policies.suppressions import FILE
from spec.catalog.ageing import ageing
from spec.settings import ConfigurationError, load, read_stack, stacks_in

STACKS: Final = Path(__file__).resolve().parents[2] / "stacks"


def lines(today: date) -> list[str]:
    """A line for each thing that a maintainer renews: old facts, suppressions that have expired, stacks near an end."""
    return [*map(str, ageing(today)), *_suppressions(today), *_stacks(today)]


def _suppressions(today: date) -> Iterator[str]:
    # Without `policies.suppressions.load`, which needs all rules and with them the SDK: 1 s of every test run.
    for entry in yaml.safe_load(FILE.read_text(encoding="utf-8")):
        if today > entry["until"]:
            yield (
                f"policies/suppressions.yaml: the suppression of {entry['rule']} for {entry['urn']} expired on "
                f"{entry['until']}. {entry['owner']} evaluates it again, or fixes the violation and removes the entry."
            )


def _stacks(today: date) -> Iterator[str]:
    for stack in stacks_in(STACKS):
        try:
            problems = load(read_stack(stack, STACKS), stack=stack, today=today).warnings
        except ConfigurationError as error:
            problems = error.problems
        for problem in problems:
            yield f"stack {stack}: {problem}"

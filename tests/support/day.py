"""The day on which tests evaluate the shipped stacks, suppressions and fixtures, whatever day it is."""

import os
from datetime import date
from typing import Final

from spec import clock

TODAY: Final = date(2026, 11, 21)
"""Moves forward with the Kubernetes versions of the stacks, to a day on which all of these are in standard support, and
on which no suppression has expired (CONTRIBUTING.md, "Dated facts")."""


def fix() -> None:
    """Give the day to this process, and to those that it starts: the command, the program, the policy pack."""
    os.environ[clock.VARIABLE] = TODAY.isoformat()

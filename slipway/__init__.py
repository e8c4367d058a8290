"""The command `slipway`: bring a stack up against AWS or in the sandbox, check it, render it, price it."""

from typing import Final

__version__: Final = "0.1.0"

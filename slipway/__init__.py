"""The `slipway` command: provision a stack on AWS or in the sandbox, check it, render it, estimate its cost."""

from typing import Final

__version__: Final = "0.1.0"

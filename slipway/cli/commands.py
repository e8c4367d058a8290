"""The type of what a command group adds its commands to."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # generic in the type checker's stubs alone
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

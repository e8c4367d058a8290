"""The type of the subparsers to which each command group adds its commands."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # generic in the type checker's stubs only
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

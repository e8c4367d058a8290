"""Settings of a stack: models by family, loading with one report, and the file's schema.

`load` is the only way to settings; nothing here imports the engine or reaches a cloud, so a wrong file is refused in
well under a second.
"""

from spec.naming import PROJECT
from spec.settings.load import KEY, Loaded, load
from spec.settings.platform import Platform
from spec.settings.problems import ConfigurationError, Problem
from spec.settings.source import read_stack, stacks_in

__all__ = ["KEY", "PROJECT", "ConfigurationError", "Loaded", "Platform", "Problem", "load", "read_stack", "stacks_in"]

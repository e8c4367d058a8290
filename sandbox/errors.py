"""Errors of the sandbox and of what it runs; each text is written for the user."""

from spec.errors import SlipwayError


class ToolError(SlipwayError):
    """A tool is missing, has a wrong version, or could not be built. The text names the tool and the alternatives."""


class SandboxError(SlipwayError):
    """The sandbox can't do what was requested. The text says what is wrong, the value, and how to fix it."""


class AttemptError(SlipwayError):
    """One way to obtain a tool failed; another may work. The text is the reason; the final message lists all."""

"""The errors of the toolchain."""


class ToolError(Exception):
    """A tool is missing, of a wrong version, or could not be made. The text names the tool and the ways out."""


class AttemptError(Exception):
    """One way to a tool did not work; another may. The text says why, for the message that lists all of them."""

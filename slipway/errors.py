"""Errors of the command's parts, each meant for the user."""

from __future__ import annotations

from spec.errors import SlipwayError


class ToolError(SlipwayError):
    """A tool is missing, of a wrong version, or could not be built. The text names the tool and the alternatives."""


class SandboxError(SlipwayError):
    """The sandbox can't do what was asked: what is wrong, what was found, how to fix it."""


class RenderError(SlipwayError):
    """The program asked for something that a rendering can't know, or its files can't be written."""


class AttemptError(SlipwayError):
    """One way to a tool did not work; another may. The text says why, for the message that lists all of them."""

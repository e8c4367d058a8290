"""The error of the sandbox that is meant for the user."""

from __future__ import annotations


class SandboxError(Exception):
    """A failure with a message for the user: what is wrong, what was found, how to mend it."""

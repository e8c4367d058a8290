"""Which errors of the other packages carry a message that is meant for the user."""

from __future__ import annotations

import sys

from slipway.engine.errors import SlipwayError

_MESSAGES = (
    ("slipway.toolchain.errors", "ToolError"),
    ("slipway.sandbox.errors", "SandboxError"),
    ("slipway.render.errors", "RenderError"),
)
_CONFIGURATION = ("spec.settings.problems", "ConfigurationError")


def is_configuration(error: BaseException) -> bool:
    """Whether a stack file was refused: its report stands alone, without our name before it."""
    return _is(error, *_CONFIGURATION)


def is_for_user(error: BaseException) -> bool:
    """Whether the text of an error is complete in itself."""
    return isinstance(error, SlipwayError | OSError) or any(_is(error, *one) for one in _MESSAGES)


def _is(error: BaseException, module: str, name: str) -> bool:
    """An error whose module was never imported was not raised by it: nothing is imported only to ask."""
    kind = getattr(sys.modules.get(module), name, None)
    return kind is not None and isinstance(error, kind)

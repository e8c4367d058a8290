"""What makes a rendering stop."""

from __future__ import annotations


class RenderError(Exception):
    """The program asked for something that a rendering can't know, or its files can't be written."""

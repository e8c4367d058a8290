"""Runs the program without the engine, and writes its resources as files that reviewers can read and compare."""

from slipway.render.writer import Rendering, render

__all__ = ["Rendering", "render"]

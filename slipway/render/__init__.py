"""The whole program without an engine: what it would ask of the engine, as files a reviewer can read and compare."""

from slipway.render.writer import Rendering, render

__all__ = ["Rendering", "render"]

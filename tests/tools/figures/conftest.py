"""The engine's binary, for the test that fills nodes with it."""

from tests.slipway.replay.conftest import binary

__all__ = ["binary"]

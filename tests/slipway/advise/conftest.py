"""The engine's binary, for the test that searches with real replays."""

from tests.slipway.replay.conftest import binary

__all__ = ["binary"]

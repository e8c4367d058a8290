"""The AWS SDK warns of itself where it is imported, and warnings are errors here: what the support does about it."""

from tests.support import mocks

__all__ = ["mocks"]

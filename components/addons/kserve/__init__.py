"""KServe: model serving (kserve.github.io)."""

from components.addons.kserve.addon import Kserve

__all__ = ["Kserve"]

"""KServe: models behind an address, as many as are asked for (kserve.github.io)."""

from components.addons.kserve.addon import Kserve

__all__ = ["Kserve"]

"""Why a workload waits: the layer that holds it, the number, and the next step."""

from slipway.why.answer import Answer, Evidence, Layer

__all__ = ["Answer", "Evidence", "Layer"]

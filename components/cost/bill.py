"""What a stack says of its own bill, as outputs: the estimate beside the bounds that were set for it.

The policy pack compares them. It sees resources and no settings, and prices depend on what a preview can't know; so the
program, which knows both, says them once (`spec.pricing.bill`), in outputs that are known before anything is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pulumi


class Bill(pulumi.ComponentResource):
    """The bill as it is foreseen. It makes nothing."""

    PULUMI_TYPE: Final = "slipway:cost:Bill"

    def __init__(self, name: str, facts: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        self.register_outputs({"bill": dict(facts)})

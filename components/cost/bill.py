"""The cost estimate of a stack as component outputs, beside the limits set for it.

The policy pack compares them. It sees resources but not settings, and prices depend on values that a preview doesn't
have. The program knows both and publishes them (`spec.pricing.bill`) as outputs that are known at preview.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pulumi


class Bill(pulumi.ComponentResource):
    """The cost estimate. It declares no resources."""

    PULUMI_TYPE: Final = "slipway:cost:Bill"

    def __init__(self, name: str, facts: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        self.register_outputs({"bill": dict(facts)})

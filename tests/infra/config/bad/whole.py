"""Mistakes of keys, and of several parts together."""

from __future__ import annotations

from typing import Final

from tests.infra.config.bad.row import Bad
from tests.infra.config.stack import DELETE

WHOLE: Final = (
    Bad(
        32,
        "names too long together",
        {"environment.name": "e" * 30, f"pools.{'p' * 30}": {"preset": "cpu"}},
        f"pools.{'p' * 30}",
        "at most 63",
        "Shorten",
    ),
    Bad(64, "misspelt key", {"network.zone": ["us-east-1a"]}, "network.zone", "not known", "Did you mean `zones`?"),
    Bad(64, "misspelt part", {"netwrok": {}}, "netwrok", "not known", "Did you mean `network`?"),
    Bad(
        64,
        "misspelt key in a pool",
        {"pools.cpu.instanceType": ["m7i.large"]},
        "pools.cpu.instanceType",
        "not known",
        "Did you mean `instanceTypes`?",
    ),
    Bad(
        64,
        "Python's spelling",
        {"environment.cost_center": "x"},
        "environment.cost_center",
        "not known",
        "Did you mean `costCenter`?",
    ),
    Bad(64, "unknown preset", {"pools.cpu.preset": "cpuu"}, "pools.cpu.preset", "must exist", "cpu"),
    Bad(64, "missing part", {"account": DELETE}, "account", "must be given", "Add `account:`"),
)

"""Mistakes of keys, and of several parts together."""

from __future__ import annotations

from typing import Final

from tests.spec.settings.bad.row import Bad
from tests.spec.settings.stack import DELETE

WHOLE: Final = (
    Bad(
        32,
        "stack's name too long for roles",
        {"environment.name": "e" * 23},
        "environment.name",
        "too long for AWS names such as slipway-eeeeeeeeeeeeeeeeeeeeeee-",
        "Shorten the stack's name by 1.",
    ),
    Bad(
        32,
        "stack's and pool's names too long together",
        {"environment.name": "e" * 15, f"pools.{'p' * 16}": {"preset": "h100", "provisioner": "managed"}},
        f"pools.{'p' * 16}",
        "at most 63",
        "Shorten the pool's or the stack's name by 1.",
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
    Bad(
        64,
        "charts from two places",
        {"charts": {"directory": "charts", "registry": "oci://registry.example.com/charts"}},
        "charts",
        "from a directory or from a registry",
        "Remove one of the two.",
    ),
    Bad(64, "directory with a slash", {"charts.directory": "charts/"}, "charts.directory", "slash", "/opt/charts"),
    Bad(
        64,
        "registry without a scheme",
        {"charts.registry": "registry.example.com/charts"},
        "charts.registry",
        "oci:// reference",
        "oci://registry.example.com/charts",
    ),
    Bad(64, "missing part", {"account": DELETE}, "account", "is required", "Add `account:`"),
)

"""How much memory the sandbox takes."""

from __future__ import annotations

from typing import Final

from tests.bench.context import Bench
from tests.bench.figure import Figure

BOUND_MIB: Final = 2048
_MIB: Final = 1 << 20


def measure(bench: Bench) -> list[Figure]:
    """All processes of the sandbox, at their highest while stack prod comes up and once it stands.

    The engine and the program are not among them: they run for seconds and belong to no sandbox.
    """
    sandbox = bench.with_prod()
    now = sandbox.memory()
    kind = "PSS" if now.pss else "RSS"
    parts = ", ".join(f"{name.rpartition(' ')[0]} {size // _MIB} MiB" for name, size in sorted(now.parts.items()))
    return [
        Figure(
            name="memory",
            value=max(sandbox.peak, now.counted) / _MIB,
            unit="MiB",
            bound=BOUND_MIB,
            how=f"{kind} of daemon, etcd and API server together, the most while prod comes up and stands",
            notes=(f"with prod standing {now.counted // _MIB} MiB ({parts}); RSS {now.rss // _MIB} MiB",),
        )
    ]

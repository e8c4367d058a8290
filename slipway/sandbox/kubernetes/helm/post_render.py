"""Helm's post-renderer: reads what a chart rendered, and writes what the sandbox installs.

    python -m slipway.sandbox.kubernetes.helm.post_render REPORT SERVED

REPORT gets a JSON list of what was left out. SERVED is JSON, the controllers that run for the chart.
Helm passes no hooks through a post-renderer (v3).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from slipway.errors import SandboxError
from slipway.sandbox.kubernetes.helm.manifest import prepare

MODULE = __name__ if __name__ != "__main__" else "slipway.sandbox.kubernetes.helm.post_render"


def main(report: Path, served: Mapping[str, bool]) -> int:
    """Standard input to standard output."""
    try:
        prepared = prepare(sys.stdin.read(), "the rendering of the chart", served)
    except SandboxError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 1
    report.write_text(json.dumps(prepared.left_out), encoding="utf-8")
    sys.stdout.write(prepared.text)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), json.loads(sys.argv[2])))

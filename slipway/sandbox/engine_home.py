"""The engine's directory in a sandbox, PULUMI_HOME, without the log that each run of the CLI writes there.

The CLI writes everything that `-v=9` would show into `$PULUMI_HOME/logs`, compressed and encrypted, and has no setting
to turn it off (v3.258.0, pkg/logging/encrypted.go, StartLogging): 1.3 of 8.2 s of CPU for a preview of stack prod, and
1.4 MB a run (2 cores, 2026-11). If it can't create that directory it continues without, so a file of that name is
created first. `--logtostderr -v=9` shows the same on demand.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

LOGS: Final = "logs"
WHY: Final = """\
This file keeps the Pulumi CLI from writing a log of every run here, which takes a sixth of the time of a preview.
Remove it to get the logs (`pulumi logs decrypt`), or add `--logtostderr -v=9` to one run.
"""


def prepare(home: Path) -> None:
    """Create the directory, without logs. An existing log directory stays: the user turned the logs on."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    logs = home / LOGS
    if not logs.exists():
        logs.write_text(WHY, encoding="utf-8")

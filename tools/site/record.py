"""Records a real session of the command line, for the picture `docs/images/session.svg`.

    PATH="$PWD/.venv/bin:$PATH" python -m tools.site.record

It runs the commands of `SESSION` in a copy of the stack files and keeps what they print, with the time of each line, in
`docs/images/session.json`. Pauses are shortened; nothing else of the output is changed but the home directory, which
is written `~`.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from tools.lock import ROOT

RECORDING: Final = ROOT / "docs" / "images" / "session.json"
COLUMNS: Final = 110
PAUSE: Final = 0.8  # seconds that a wait for output is shortened to
SESSION: Final = (
    "slipway check dev",
    "slipway up dev --sandbox 2>/dev/null | grep -E '^(Stack|Kubernetes|Pods|Resources|Helm|AWS)'",
    "sed -i 's/all-1g.5gb/all-2g.10gb/' stacks/Pulumi.dev.yaml",
    "slipway preview dev --sandbox 2>/dev/null",
    "slipway quickstart",
)


def run(command: str, directory: Path) -> list[tuple[float, str]]:
    """What a command prints: seconds since the line before it, and the line."""
    found, before = [], time.monotonic()
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "NO_COLOR": "1"}
    with subprocess.Popen(
        ["bash", "-c", command], cwd=directory, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        for line in process.stdout:
            now = time.monotonic()
            found.append((round(min(PAUSE, now - before), 2), line.rstrip("\n").replace(str(Path.home()), "~")))
            before = now
    if process.returncode:
        msg = f"{command} ended with {process.returncode}"
        raise SystemExit(msg)
    return found


def main() -> int:
    """Run the session and write its recording."""
    with tempfile.TemporaryDirectory(prefix="slipway-") as name:
        directory = Path(name)
        for source in ("infra", "stacks"):
            shutil.copytree(ROOT / source, directory / source)
        shutil.copy2(ROOT / "Pulumi.yaml", directory)
        session = []
        for command in SESSION:
            print(f"$ {command}", file=sys.stderr)
            session.append({"command": command, "lines": run(command, directory)})
    RECORDING.write_text(json.dumps(session, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

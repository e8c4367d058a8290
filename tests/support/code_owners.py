"""Who has to review a file, by .github/CODEOWNERS."""

from pathlib import Path
from typing import Final

OWNERS: Final = Path(__file__).resolve().parents[2] / ".github" / "CODEOWNERS"


def owner(file: str) -> str:
    """Who has to review a file: the last pattern that matches it."""
    found = ""
    for line in OWNERS.read_text(encoding="utf-8").splitlines():
        pattern, _, names = line.partition(" ")
        if (
            pattern
            and not pattern.startswith("#")
            and (pattern in ("*", f"/{file}") or (pattern.endswith("/") and f"/{file}".startswith(pattern)))
        ):
            found = names.strip()
    return found

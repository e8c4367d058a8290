"""Release notes for the website: a page for each version of CHANGELOG.md, with the steps of its upgrade."""

import re
from dataclasses import dataclass
from typing import Final

SOURCE: Final = "CHANGELOG.md"
INDEX: Final = "releases/README.md"
UNRELEASED: Final = "Unreleased"
SECTIONS: Final = ("Changed", "Deprecated", "Removed", "Fixed", "Security", "Added")
"""Those of Keep a Changelog, in this order: what a user has to act on comes first."""
_VERSION: Final = re.compile(r"^## (?:(Unreleased)|\[?(\d+\.\d+\.\d+)\]? - (\d{4}-\d\d-\d\d))$", re.M)


@dataclass(frozen=True)
class Release:
    """A version; `date` is empty and `version` is `Unreleased` before it is released."""

    version: str
    date: str
    body: str

    @property
    def place(self) -> str:
        """Its page on the site."""
        return f"releases/{self.version.lower()}.md"

    @property
    def heading(self) -> str:
        """The heading of its page."""
        return f"Slipway {self.version}" if self.date else "Changes that are not released yet"


def read(changelog: str) -> list[Release]:
    """The versions, newest first.

    Raises:
        ValueError: A heading of the second level is neither `Unreleased` nor `X.Y.Z - YYYY-MM-DD`.
    """
    found = list(_VERSION.finditer(changelog))
    headings = re.findall(r"^## .*$", changelog, re.M)
    if unknown := sorted(set(headings) - {one[0] for one in found}):
        msg = f"{SOURCE}: {unknown[0]!r}: write `## {UNRELEASED}`, or `## X.Y.Z - YYYY-MM-DD`"
        raise ValueError(msg)
    ends = [*(one.start() for one in found[1:]), len(changelog)]
    return [
        Release(one[1] or one[2], one[3] or "", changelog[one.end() : end].strip() + "\n")
        for one, end in zip(found, ends, strict=True)
    ]


def pages(changelog: str) -> dict[str, str]:
    """The pages by their places on the site, with links as the changelog has them."""
    releases = read(changelog)
    before: list[Release | None] = [*releases[1:], None]
    found = {INDEX: _index(releases)}
    return found | {one.place: _page(one, last) for one, last in zip(releases, before, strict=True)}


def _index(releases: list[Release]) -> str:
    # A link begins at the folder of the changelog: `stage` changes those of pages, and leaves these.
    rows = [f"| [{one.version}]({one.place}) | {one.date or 'not released'} |" for one in releases]
    return (
        "# Releases\n\nWhat changed in each version, and what to do about it. [Upgrade Slipway](docs/upgrading.md) has "
        "the steps, which are the same for every version.\n\n| Version | Date |\n|---|---|\n" + "\n".join(rows) + "\n"
    )


def _page(release: Release, before: Release | None) -> str:
    body = re.sub(r"^###(#*) ", r"##\1 ", release.body, flags=re.M)
    target = f"v{release.version}" if release.date else "main"
    yours = f"v{before.version}" if before is not None else "YOURS"
    steps = (
        f"    git merge {target} && make setup\n"
        "    slipway check dev staging prod\n"
        f"    slipway report dev --out out --against {yours}\n"
        f"    slipway up dev --sandbox      # at {yours}, then at {target}\n"
        "    slipway preview dev\n"
    )
    day = f"Released on {release.date}. " if release.date else ""
    first = (
        "Read [Changed](#changed) first: it has every renamed setting, default and resource, with what to do. Then"
        if "\n## Changed\n" in f"\n{body}"
        else "No setting, default or resource changed. Do this"
    )
    return (
        f"# {release.heading}\n\n{day}[All versions]({INDEX})\n\n## Upgrade\n\n{first}, for each of your stacks "
        f"([what to look at in each step](docs/upgrading.md)):\n\n{steps}\n{body}"
    )

"""Release notes: a page for each version of the changelog, with the steps of its upgrade."""

import re

import pytest

from slipway import __version__
from tests.docs.pages import ROOT
from tools.site import releases

CHANGELOG = """\
# Changelog

## Unreleased

### Added
- A third thing: [guide](docs/guides/fit.md).

## 0.2.0 - 2027-01-31

### Changed
**Settings.** `a` is `b`.

#### Details
More.

## [0.1.0] - 2026-12-01

### Added
- A first thing.
"""


def test_each_version_has_a_page_and_the_index_lists_them_newest_first() -> None:
    found = releases.pages(CHANGELOG)
    assert list(found) == [
        "releases/README.md",
        "releases/unreleased.md",
        "releases/0.2.0.md",
        "releases/0.1.0.md",
    ]
    assert re.findall(r"^\| \[(.+?)\]\((.+?)\) \| (.+?) \|$", found["releases/README.md"], re.M) == [
        ("Unreleased", "releases/unreleased.md", "not released"),
        ("0.2.0", "releases/0.2.0.md", "2027-01-31"),
        ("0.1.0", "releases/0.1.0.md", "2026-12-01"),
    ]


def test_a_page_begins_with_the_steps_from_the_version_before_it() -> None:
    page = releases.pages(CHANGELOG)["releases/0.2.0.md"]
    assert page.startswith("# Slipway 0.2.0\n\nReleased on 2027-01-31.")
    assert page.index("git merge v0.2.0 && make setup") < page.index("--against v0.1.0") < page.index("\n## Changed\n")
    assert "\n### Details\n" in page
    assert "first thing" not in page
    assert "third thing" not in page


def test_without_changes_that_need_action_no_link_leads_to_them() -> None:
    page = releases.pages(CHANGELOG)["releases/0.1.0.md"]
    assert "#changed" not in page
    assert "No setting, default or resource changed." in page
    assert "--against YOURS" in page


@pytest.mark.parametrize("heading", ["## 0.3 - 2027-02-01", "## 0.3.0", "## v0.3.0 - 2027-02-01", "## unreleased"])
def test_a_heading_that_names_no_version_is_refused(heading: str) -> None:
    with pytest.raises(ValueError, match=re.escape(heading)):
        releases.pages(f"# Changelog\n\n{heading}\n\n### Added\n- It.\n")


def test_the_changelog_has_each_section_once_in_order_and_the_version_of_the_package() -> None:
    found = releases.read((ROOT / releases.SOURCE).read_text(encoding="utf-8"))
    assert found
    assert [one.version for one in found if not one.date] in ([], [releases.UNRELEASED])
    dated = [(one.date, tuple(map(int, one.version.split(".")))) for one in found if one.date]
    assert dated == sorted(dated, reverse=True)
    # Before its first release a package has the version that this will be.
    assert not dated or ".".join(map(str, dated[0][1])) == __version__
    for one in found:
        sections = re.findall(r"^### (.+)$", one.body, re.M)
        assert sections == [name for name in releases.SECTIONS if name in sections], one.version

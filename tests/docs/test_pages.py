"""Recognition of links, headings and code, and the language of each block of code."""

import datetime
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import unquote

import pytest
import yaml

from sandbox.cluster.apiserver import emulation
from sandbox.toolchain.tools import KUBERNETES_VERSION
from spec.strict_yaml import StrictLoader
from tests.docs.pages import ROOT, anchors, code, links, pages, unlabelled
from tests.support.cases import beside
from tests.support.stacks import recorded

CASES: Final = beside(__file__)
PAGE = CASES["page"]


def test_links_outside_code_are_found() -> None:
    assert list(links(PAGE)) == ["other.md", "a.md", "b.md#part"]


def test_headings_become_the_anchors_that_github_generates() -> None:
    assert anchors(PAGE) == {"the-slipway-command-and-more", "what-is-there", "what-is-there-1"}


def test_code_includes_blocks_and_spans() -> None:
    assert set(code(PAGE)) >= {"slipway", "[not](this.md)", "[nor](this.md)", "key: [value](nor-this.md)"}


def test_each_block_of_code_names_its_language() -> None:
    found = {page.relative_to(ROOT): list(unlabelled(page.read_text(encoding="utf-8"))) for page in pages()}
    assert {page: lines for page, lines in found.items() if lines} == {}


def test_a_block_without_a_language_is_found() -> None:
    assert list(unlabelled(f"{PAGE}\n```\nplain\n```\n")) == ["    [nor](this.md)", "```"]


# Links of the pages have existing targets, and an index links every page.


INDEX = ROOT / "docs" / "README.md"


def targets(page: Path) -> list[tuple[str, Path, str]]:
    """The relative links of a page: as written, the file, and the heading."""
    relative = []
    for link in links(page.read_text(encoding="utf-8")):
        if "://" not in link and not link.startswith("mailto:"):
            path, _, heading = link.partition("#")
            relative.append((link, (page.parent / unquote(path)).resolve() if path else page, heading))
    return relative


def test_every_relative_link_has_an_existing_file() -> None:
    dead = [
        f"{page.relative_to(ROOT)}: {link}" for page in pages() for link, file, _ in targets(page) if not file.exists()
    ]
    assert dead == []


def test_every_link_to_a_heading_has_an_existing_heading() -> None:
    dead = [
        f"{page.relative_to(ROOT)}: {link}"
        for page in pages()
        for link, file, heading in targets(page)
        if heading and file.is_file() and heading not in anchors(file.read_text(encoding="utf-8"))
    ]
    assert dead == []


def test_every_page_below_docs_is_linked_from_an_index() -> None:
    reached: set[Path] = set()
    ahead = [INDEX]
    while ahead:
        page = ahead.pop()
        reached.add(page)
        # Only links of an index count: readers find links inside other pages only by chance.
        if page.name == "README.md":
            ahead += [file for _, file, _ in targets(page) if file.suffix == ".md" and file not in reached]
    below = {page for page in pages() if page.is_relative_to(ROOT / "docs")}
    assert sorted(str(page.relative_to(ROOT)) for page in below - reached) == []


@pytest.mark.parametrize("folder", ["runbooks", "adr", "notes"])
def test_an_index_of_runbooks_decisions_and_notes_is_complete(folder: str) -> None:
    index = ROOT / "docs" / folder / "README.md"
    listed = {file for _, file, _ in targets(index)}
    assert sorted(page.name for page in index.parent.glob("*.md") if page not in listed | {index}) == []


# Files, folders and modules that pages name in code exist.


TOP: Final = r"(?:spec|components|deploy(?=/iam)|infra|policies|slipway|stacks|examples|tests|tools|docs|\.github|\.ci)"
PATH: Final = re.compile(rf"{TOP}/[\w./*-]*")
PACKAGES: Final = "|".join(sorted(path.parent.name for path in ROOT.glob("spec/*/__init__.py")))
MODULE: Final = re.compile(rf"(?!spec\.(?!{PACKAGES})){TOP}(?:\.[A-Za-z_]\w*)+")
"""Kubernetes has fields such as `spec.active`: in `spec`, only the packages that exist count."""
PLACEHOLDER: Final = re.compile(r"<[^>]*>|\b(?:STACK|NAME|ENV)\b")
SUFFIX: Final = re.compile(r"\.(?:py|md|yml|yaml|json|toml|sh)$")
HISTORY: Final = ("CHANGELOG.md",)
"""Pages that name former paths."""
EXAMPLES: Final = {"stacks/Pulumi.perf.yaml", "slipway.Platform"}
"""What a reader creates: a file, a class of the SDK that `pulumi package add` generates."""


def words(text: str) -> set[str]:
    """Words of all code on a page, with `*` for placeholders."""
    return {word.strip(",;:()[]'\"") for part in code(text) for word in PLACEHOLDER.sub("*", part).split()}


def path_exists(path: str) -> bool:
    """Whether something in the repository has this path, with `*` for any name."""
    return any(True for _ in ROOT.glob(path.rstrip("/")))


def module_exists(name: str) -> bool:
    """Whether a dotted name is a package, a module or a name that a module defines."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        place = ROOT.joinpath(*parts[:length])
        sources = [place.with_suffix(".py"), place / "__init__.py"]
        if source := next((one for one in sources if one.is_file()), None):
            rest = parts[length:]
            return not rest or re.search(rf"\b{rest[0]}\b", source.read_text(encoding="utf-8")) is not None
    return False


def missing(page: Path) -> list[str]:
    """Paths and modules of a page that don't exist."""
    found = words(page.read_text(encoding="utf-8"))
    paths = [word for word in found if PATH.fullmatch(word) and not path_exists(word) and word not in EXAMPLES]
    dotted = [word for word in found if MODULE.fullmatch(word) and not SUFFIX.search(word) and word not in EXAMPLES]
    modules = [word for word in dotted if not module_exists(word)]
    return sorted(f"{page.relative_to(ROOT)}: {word}" for word in (*paths, *modules))


def test_a_missing_path_or_module_is_reported() -> None:
    found = words(
        "Edit `spec/settings/`, `infra/config/base.py`.\n\n    pytest tests/nowhere  # stacks/Pulumi.<env>.yaml\n"
    )
    assert {word for word in found if PATH.fullmatch(word) and not path_exists(word)} == {
        "infra/config/base.py",
        "tests/nowhere",
    }
    assert "stacks/Pulumi.*.yaml" in found
    assert path_exists("stacks/Pulumi.*.yaml")
    assert not path_exists("policies/Pulumi.*.yaml")
    assert module_exists("spec.pools.resolution")
    assert module_exists("components.workloads.TrainingJob")
    assert not module_exists("infra.catalog")
    assert not module_exists("spec.pools.nothing_of_this_name")


def test_paths_and_modules_on_pages_exist() -> None:
    assert [line for page in pages() if page.name not in HISTORY for line in missing(page)] == []


# YAML on pages is YAML, and no key is in a mapping twice: what a reader copies means what it seems to.


FENCED: Final = re.compile(r"^( *)```yaml\n(.*?)^ *```", re.M | re.S)


def blocks(text: str) -> Iterator[str]:
    """Blocks of YAML, without the indentation of a list that they are in."""
    for _, block in FENCED.findall(text):
        yield textwrap.dedent(block)


def problem(block: str) -> str:
    """What is wrong with a block; empty if nothing is."""
    try:
        list(yaml.load_all(block, StrictLoader))
    except yaml.YAMLError as error:
        return str(error)
    return ""


def test_yaml_on_the_pages_can_be_read() -> None:
    texts = {page.relative_to(ROOT): page.read_text(encoding="utf-8") for page in pages()}
    wrong = [
        (page, block, found) for page, text in texts.items() for block in blocks(text) if (found := problem(block))
    ]
    assert "\n".join(f"{page}:\n{block}\n{found}" for page, block, found in wrong) == ""


def test_lost_indentation_is_noticed() -> None:
    text = "1. A job:\n\n   ```yaml\n   metadata: {labels: {a: b}}\n   spec:\n   template:\n   spec:\n   ```\n\nNext.\n"
    (block,) = blocks(text)
    assert "the key 'spec' is set twice" in problem(block)
    assert list(blocks("Run:\n\n```bash\nslipway check dev\n```\n")) == []


# Architecture decisions have a unique number, a status and a date.


FOLDER: Final = ROOT / "docs" / "adr"
DECISIONS: Final = sorted(FOLDER.glob("[0-9]*.md"))
NOTES: Final = sorted(path for path in (ROOT / "docs" / "notes").glob("*.md") if path.name != "README.md")
HEAD: Final = re.compile(
    r"# (?P<number>\d{4}) \S.*\n\n"
    r"- Status: (?:Accepted|Superseded by \[(?P<by>\d{4})\]\((?P<file>\S+\.md)\))\n"
    r"- Date: (?P<date>\d{4}-\d{2}-\d{2})\n\n\S"
)
NOTE: Final = re.compile(r"# \D.*\n\n- Date: (?P<date>\d{4}-\d{2}-\d{2})\n\n\S")


@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.stem)
def test_a_decision_has_number_status_and_date_below_its_title(page: Path) -> None:
    head = HEAD.match(page.read_text(encoding="utf-8"))
    assert head, f"{page.name} does not begin with `# NUMBER Title`, `- Status: Accepted` and `- Date: YYYY-MM-DD`"
    assert page.name.startswith(f"{head['number']}-")
    datetime.date.fromisoformat(head["date"])
    if head["by"]:
        assert head["file"].startswith(f"{head['by']}-")
        assert head["by"] > head["number"]


@pytest.mark.parametrize("page", NOTES, ids=lambda page: page.stem)
def test_a_note_has_a_date_and_no_number(page: Path) -> None:
    head = NOTE.match(page.read_text(encoding="utf-8"))
    assert head, f"{page.name} does not begin with `# Title` without a number and `- Date: YYYY-MM-DD`"
    datetime.date.fromisoformat(head["date"])


def test_no_number_is_used_twice() -> None:
    numbers = [page.name[:4] for page in DECISIONS]
    assert len(numbers) == len(set(numbers))
    moved = re.findall(r"\b\d{4}\b", (FOLDER / "README.md").read_text(encoding="utf-8").partition("\n- [")[0])
    assert moved
    assert set(moved) & set(numbers) == set(), "a number of the notes is used again"


def test_a_page_without_status_date_or_number_is_refused() -> None:
    whole = "# 0001 Title\n\n- Status: Accepted\n- Date: 2026-11-21\n\nText."
    assert HEAD.match(whole)
    assert HEAD.match(whole.replace("Accepted", "Superseded by [0002](0002-other.md)"))
    for part in ("- Status: Accepted\n", "- Date: 2026-11-21\n", "0001 "):
        assert not HEAD.match(whole.replace(part, ""))


# Versions and limits on the pages are those of the code.


SANDBOX = (ROOT / "docs" / "guides" / "sandbox-reference.md").read_text(encoding="utf-8")
NUMBER = r"(?:\d[\d,]+|five|six|seven|eight|nine|ten|eleven|twelve|a hundred)"
COUNTED = re.compile(
    rf"\b{NUMBER}\s+(?:AWS\s+)?(?:add-ons|alerts|charts|checks|commands|components|dashboards|examples|policies|programs"
    r"|resources|rules|runbooks|settings|tests|types|workflows)\b",
    re.IGNORECASE,
)
DATE = re.compile(r"\b20\d\d-\d\d\b")
RECORDS = ("docs/adr", "docs/notes", "docs/benchmarks.md", "docs/policies.md")
"""Dated as a whole, or generated."""


def test_the_versions_that_the_api_server_emulates_are_those_of_the_toolchain() -> None:
    major, minor, _ = KUBERNETES_VERSION.split(".")
    oldest = emulation(f"{major}.0", KUBERNETES_VERSION).served
    assert f"kube-apiserver {major}.{minor} emulates `cluster.version` from {oldest};" in SANDBOX
    assert f"versions outside of {oldest} to {major}.{minor} |" in SANDBOX


def test_the_readme_counts_what_stack_dev_has() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    types = [one.type for one in recorded("dev") if one.custom and not one.type.startswith("pulumi:")]
    assert f"Stack dev: {len(types)} created; 0 unchanged." in readme
    assert f"Resources: {len(types)}, {sum(one.startswith('aws:') for one in types)} of them in AWS." in readme


@pytest.mark.parametrize("stack", ["dev", "staging", "prod"])
def test_the_table_of_stacks_has_their_cost_limits(stack: str) -> None:
    platform = yaml.safe_load((ROOT / "stacks" / f"Pulumi.{stack}.yaml").read_text())["config"]["slipway:platform"]
    cost, limits = platform["cost"], platform["cost"]["limits"]
    lines = (ROOT / "stacks" / "README.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    column = rows[0].index(stack)
    of = {re.sub(r" \(\d+\)", "", row[0]): row[column] for row in rows}
    assert of["budget a month"].startswith(f"{cost['monthlyBudgetUsd']:,} USD")
    assert of["ceiling, floor per hour"] == f"{limits['ceilingUsdPerHour']}, {limits['floorUsdPerHour']} USD"
    assert of["zones"] == str(len(platform["network"]["zones"]))


def counts(text: str) -> list[str]:
    """Counts in paragraphs of a text that have no date."""
    return [count for part in text.split("\n\n") if not DATE.search(part) for count in COUNTED.findall(part)]


def test_a_count_without_a_date_is_reported() -> None:
    assert counts("The pack: 107 rules.\n\nSeven\nprograms, two commands.") == ["107 rules", "Seven\nprograms"]
    assert counts("One run (2026-11-21): 421 resources.") == []


def test_pages_have_no_undated_counts() -> None:
    undated = {
        str(page.relative_to(ROOT)): counts(page.read_text(encoding="utf-8"))
        for page in pages()
        if not str(page.relative_to(ROOT)).startswith(RECORDS)
    }
    assert {page: texts for page, texts in undated.items() if texts} == {}, "leave the number out, or date it"


NAMED: Final = re.compile(r"\[`(tests/[\w/]+\.py)::(test_\w+)`\]\(\.\./\1\)")


def lost(page: str) -> list[tuple[str, str]]:
    """Tests that a page names, with the files that should have them."""
    return [(path, name) for path, name in NAMED.findall(page) if f"\ndef {name}(" not in (ROOT / path).read_text()]


def test_every_promise_of_reliability_names_tests_that_exist() -> None:
    page = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    assert page.count("::test_") == len(NAMED.findall(page)) > 40
    assert lost(page) == []
    assert lost("[`tests/docs/pages.py::test_x`](../tests/docs/pages.py)") == [("tests/docs/pages.py", "test_x")]

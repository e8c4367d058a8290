"""Files, folders and modules that pages name in code exist."""

import re
from pathlib import Path
from typing import Final

from tests.docs.pages import ROOT, code, pages

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

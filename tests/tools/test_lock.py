import re
import tomllib
from itertools import chain
from pathlib import Path
from typing import Final

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.cases import beside
from tools import lock

CASES: Final = beside(__file__)

PYPROJECT = lock.PYPROJECT.read_text()
LOCK = lock.LOCK.read_text()


def dependencies() -> list[Requirement]:
    document = tomllib.loads(PYPROJECT)
    extras = chain.from_iterable(document["project"]["optional-dependencies"].values())
    listed = (*document["project"]["dependencies"], *extras, *document["dependency-groups"]["dev"])
    return [Requirement(text) for text in listed]


def test_the_lock_file_belongs_to_pyproject_and_pins_every_package_by_hash() -> None:
    assert lock.problems(PYPROJECT, LOCK) == []


@pytest.mark.parametrize("path", [lock.SCANNERS, lock.SITE, lock.AWSCLI], ids=lambda path: path.stem)
def test_a_lock_file_of_tools_belongs_to_pyproject_and_pins_every_package_by_hash(path: Path) -> None:
    assert lock.problems(PYPROJECT, path.read_text(), path) == []


def test_another_version_of_a_scanner_makes_only_its_lock_file_out_of_date() -> None:
    changed = PYPROJECT.replace("checkov==", "checkov>=")
    assert "run `make lock`" in lock.problems(changed, lock.SCANNERS.read_text(), lock.SCANNERS)[0]
    assert lock.problems(changed, LOCK) == []


@pytest.mark.parametrize(
    "text",
    [LOCK, lock.SCANNERS.read_text(), lock.SITE.read_text(), lock.AWSCLI.read_text()],
    ids=["requirements", "scanners", "site", "awscli"],
)
def test_a_lock_file_names_no_host_and_no_path(text: str) -> None:
    assert not re.search(r"://|@ |\b[a-z0-9-]+\.(com|org|net|io|dev)\b|[ =]/", text)


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
def test_the_locked_versions_meet_pyproject(python: str) -> None:
    environment = {key: str(value) for key, value in default_environment().items()}
    environment |= {"python_version": python, "python_full_version": f"{python}.0"}
    pinned: dict[str, str] = {}
    for line in lock.requirements(LOCK):
        locked = Requirement(line.split(" --hash")[0])
        if locked.marker is None or locked.marker.evaluate(environment):
            assert canonicalize_name(locked.name) not in pinned, f"{locked.name} is pinned twice for Python {python}"
            pinned[canonicalize_name(locked.name)] = str(locked.specifier).removeprefix("==")
    wrong = [
        str(wanted)
        for wanted in dependencies()
        if not wanted.specifier.contains(pinned[canonicalize_name(wanted.name)])
    ]
    assert wrong == [], "run `make lock`"


@pytest.mark.parametrize(("old", "new"), CASES["a change of the dependencies makes the lock file out of date"])
def test_a_change_of_the_dependencies_makes_the_lock_file_out_of_date(old: str, new: str) -> None:
    assert old in PYPROJECT
    (problem,) = lock.problems(PYPROJECT.replace(old, new, 1), LOCK)
    assert "run `make lock`" in problem


def test_other_changes_do_not_make_the_lock_file_out_of_date() -> None:
    assert lock.problems(PYPROJECT.replace("line-length = 120", "line-length = 100"), LOCK) == []


@pytest.mark.parametrize("line", CASES["a line that is not one version with its hashes is refused"])
def test_a_line_that_is_not_one_version_with_its_hashes_is_refused(line: str) -> None:
    assert any(line in problem for problem in lock.problems(PYPROJECT, f"{LOCK}{line}\n"))

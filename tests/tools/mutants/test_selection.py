"""Which tests should notice a change of a module."""

from pathlib import Path, PurePosixPath

import pytest

from tests.tools.mutants.projects import project
from tools.mutants.sample import sources
from tools.mutants.selection import Selection

POOLS = "tests/components/pools"
FILES = {
    "components/pools/__init__.py": "",
    "components/pools/room.py": "",
    "components/pools/spec.py": "",
    "components/pools/fleet.py": "from components.pools.room import Room",
    "components/iam.py": "",
    "infra/naming.py": "",
    "infra/config/load.py": "from infra import naming",
    "slipway/sandbox/daemon.py": "from infra import naming",
    "tests/components/pools/test_room.py": "from components.pools.room import Room",
    "tests/components/pools/test_room_edges.py": "",
    "tests/components/pools/test_fleet.py": "",
    "tests/components/test_other.py": "from tests.support import samples",
    "tests/support/samples.py": "from tests.support.more import spec",
    "tests/support/more.py": "import components.pools.spec",
    "tests/infra/test_naming.py": "",
    "tests/infra/config/load/test_files.py": "",
    "tests/slipway/sandbox/test_daemon.py": "",
    "tests/e2e/test_stack.py": "import infra.naming",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return project(tmp_path, FILES)


def selection_of(root: Path, *, everything: bool = False) -> Selection:
    return Selection(root, sources(root, ("components", "infra", "slipway")), everything=everything)


@pytest.fixture
def selection(root: Path) -> Selection:
    return selection_of(root)


@pytest.mark.parametrize(
    ("module", "own"),
    [
        (
            "components/pools/room.py",
            ("tests/components/pools/test_room.py", "tests/components/pools/test_room_edges.py"),
        ),
        ("components/pools/spec.py", (POOLS,)),
        ("components/pools/__init__.py", (POOLS,)),
        ("components/pools/gpu/spec.py", (POOLS,)),
        ("components/pools.py", (POOLS,)),
        ("components/iam.py", ("tests/components",)),
        ("infra/config/load.py", ("tests/infra/config/load",)),
        ("slipway/sandbox/daemon.py", ("tests/slipway/sandbox/test_daemon.py",)),
        ("slipway/e2e/stack.py", ("tests/slipway",)),
        ("policies/rule.py", ()),
    ],
)
def test_own_tests_are_the_mirrored_file_or_the_nearest_folder(
    selection: Selection, module: str, own: tuple[str, ...]
) -> None:
    assert selection.own(PurePosixPath(module)) == own


@pytest.mark.parametrize(
    ("module", "near"),
    [
        # Its folder, in which the own tests of components/pools/fleet.py are too.
        ("components/pools/room.py", (POOLS,)),
        # A test that imports it by a helper of a helper.
        ("components/pools/spec.py", ("tests/components/test_other.py",)),
        # The own tests of modules that import it, but for tests/e2e.
        ("infra/naming.py", ("tests/infra", "tests/slipway/sandbox/test_daemon.py")),
    ],
)
def test_near_tests_import_the_module_or_are_those_of_modules_that_do(
    selection: Selection, module: str, near: tuple[str, ...]
) -> None:
    assert selection.near(PurePosixPath(module)) == near


def test_all_tests_come_last_where_they_are_asked_for_without_those_of_whole_stacks(root: Path) -> None:
    stages = selection_of(root, everything=True).stages(PurePosixPath("policies/rule.py"))
    assert list(stages) == ["all"]
    assert stages["all"][0] == "tests"
    assert "--ignore=tests/e2e" in stages["all"]


def test_own_tests_come_before_near_ones(root: Path, selection: Selection) -> None:
    path = PurePosixPath("components/pools/room.py")
    assert list(selection.stages(path).items()) == [("own", selection.own(path)), ("near", selection.near(path))]
    assert list(selection_of(root, everything=True).stages(path)) == ["own", "near", "all"]

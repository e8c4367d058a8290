import stat
from pathlib import Path

import pytest

from sandbox.files import write_atomically


def test_a_file_is_replaced_as_a_whole_and_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old and longer")
    write_atomically(path, "new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_program_can_be_run_by_all(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomically(path, "new", mode=0o755)
    assert stat.S_IMODE(path.stat().st_mode) == 0o755


def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "\ud800")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]

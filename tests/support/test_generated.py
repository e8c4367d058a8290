"""What a generated file that is out of date is reported as, and where its command is."""

import subprocess
from pathlib import Path

import pytest

from tests.support.generated import COMMANDS, ROOT, SETTINGS, check, check_part, with_part, write_part

COMMAND = "python -m somewhere"
PAGE = f"# Page\n\n<!-- list: written by `{COMMAND}` -->\n\nold\n\n<!-- end of list -->\n\nThe end.\n"


def test_a_current_file_passes_and_another_fails_with_difference_and_command(tmp_path: Path) -> None:
    file = tmp_path / "file.json"
    file.write_text("one\ntwo\n")
    check(file, "one\ntwo\n", COMMAND)
    with pytest.raises(pytest.fail.Exception) as failed:
        check(file, "one\nthree\n", COMMAND)
    lines = str(failed.value).splitlines()
    assert lines[0].endswith("file.json is out of date:")
    assert {"-two", "+three"} <= set(lines)
    assert lines[-1] == f"run `make generate`, or for this file alone `{COMMAND}`"


def test_a_file_that_is_missing_is_out_of_date(tmp_path: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match="out of date"):
        check(tmp_path / "file.json", "text\n", COMMAND)


def test_a_large_difference_is_cut_short(tmp_path: Path) -> None:
    with pytest.raises(pytest.fail.Exception) as failed:
        check(tmp_path / "file", "\n".join(map(str, range(1000))), COMMAND)
    assert len(str(failed.value).splitlines()) < 30
    assert "lines more" in str(failed.value)


def test_a_part_is_compared_and_written_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    check_part(page, "list", "old", COMMAND)
    with pytest.raises(pytest.fail.Exception, match="out of date"):
        check_part(page, "list", "new", COMMAND)
    write_part(page, "list", r"new \1", COMMAND)
    assert page.read_text() == PAGE.replace("old", r"new \1")


@pytest.mark.parametrize("page", [PAGE.replace("end of list", "end"), PAGE + PAGE, PAGE.replace("list:", "table:")])
def test_a_page_without_the_marks_is_refused(page: str) -> None:
    with pytest.raises(ValueError, match="once, in this order"):
        with_part(page, "list", "new", COMMAND)


def test_make_generate_runs_every_command() -> None:
    def planned(target: str) -> list[str]:
        command = ["make", "--dry-run", "--no-print-directory", target]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        return [line.removeprefix(".venv/bin/") for line in done.stdout.splitlines()]

    everything = planned("generate")
    for command in COMMANDS:
        if command == SETTINGS:
            assert set(planned(command.removeprefix("make "))) <= set(everything)
        else:
            assert command in everything

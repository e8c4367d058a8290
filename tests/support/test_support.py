"""What the support of the tests reports: facts that have become old, and generated files that are out of date."""

import subprocess
from datetime import date
from pathlib import Path

import pytest
import yaml

from policies.suppressions import FILE
from spec import strict_yaml
from tests.support import ageing
from tests.support.day import TODAY
from tests.support.generated import COMMANDS, ROOT, SETTINGS, check, check_part, write_part

COMMAND = "python -m somewhere"
PAGE = f"# Page\n\n<!-- list: written by `{COMMAND}` -->\n\nold\n\n<!-- end of list -->\n\nThe end.\n"


def test_facts_suppressions_and_stacks_that_have_ended_are_named() -> None:
    text = "\n".join(ageing.lines(date(2100, 1, 1)))
    assert "spec/catalog/data/prices.yaml: " in text
    assert "`slipway catalog prices`" in text
    assert text.count("the suppression of ") == len(yaml.safe_load(FILE.read_text(encoding="utf-8")))
    assert "stack prod: cluster.version: EKS must support the version" in text


def test_on_the_day_of_the_tests_no_stack_and_no_suppression_has_ended() -> None:
    assert [line for line in ageing.lines(TODAY) if not line.startswith("spec/catalog/")] == []


def test_a_file_or_part_that_is_out_of_date_is_shown_with_difference_and_command(tmp_path: Path) -> None:
    file, page = tmp_path / "file.json", tmp_path / "page.md"
    file.write_text("one\ntwo\n")
    check(file, "one\ntwo\n", COMMAND)
    with pytest.raises(pytest.fail.Exception) as failed:
        check(file, "one\nthree\n", COMMAND)
    lines = str(failed.value).splitlines()
    assert {"-two", "+three", f"run `make generate`, or for this file alone `{COMMAND}`"} <= set(lines)
    page.write_text(PAGE)
    check_part(page, "list", "old", COMMAND)
    with pytest.raises(pytest.fail.Exception, match="out of date"):
        check_part(page, "list", "new", COMMAND)
    write_part(page, "list", r"new \1", COMMAND)
    assert page.read_text() == PAGE.replace("old", r"new \1")


def test_every_table_beside_a_test_is_read_by_it() -> None:
    files = list((ROOT / "tests").rglob("test_*.yaml"))
    unread = [
        f"{file.relative_to(ROOT)}: {name}"
        for file in files
        for name in strict_yaml.read(file.read_text(encoding="utf-8"))
        if f'CASES["{name}"]' not in file.with_suffix(".py").read_text(encoding="utf-8")
    ]
    assert files
    assert unread == []


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

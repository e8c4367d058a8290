"""The command itself: help, exit codes, wrong input, errors."""

import io
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from slipway import __version__
from slipway.cli import main
from slipway.cli.output import colored
from spec.errors import EXIT_INTERRUPTED, EXIT_REFUSED
from tests.slipway.cli.test_display import Terminal
from tests.slipway.conftest import Slipway
from tests.support.patience import slowness

# The command as a whole: exit codes, messages, and late imports.


def test_the_version_is_that_of_the_distribution(slipway: Slipway) -> None:
    assert version("slipway") == __version__
    assert slipway("--version").out == f"slipway {__version__}\n"


def test_a_bare_command_prints_the_help(slipway: Slipway) -> None:
    assert slipway("").out == slipway("--help").out


def test_a_file_of_an_older_version_is_written_anew_and_checked(checkout: Path, slipway: Slipway) -> None:
    file = checkout / "stacks" / "Pulumi.dev.yaml"
    before, mode = file.read_text(), file.stat().st_mode
    file.write_text(before.replace("trafficType:", "traffic:"))
    said = slipway("check dev --migrate")
    assert said.err == "dev: network.flowLogs.traffic is written as trafficType\n"
    assert "stack dev: valid" in said.out
    assert (file.read_text(), file.stat().st_mode) == (before, mode)
    assert slipway("check dev --migrate").err == ""


@pytest.mark.parametrize("out", ["file/out", "file", "/proc/x"])
def test_a_folder_for_the_report_that_cannot_be_written_is_refused_before_the_program_runs(
    out: str, checkout: Path, slipway: Slipway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("slipway.report.make.record_platform", lambda *_, **__: pytest.fail("the program ran"))
    (checkout / "file").write_text("")
    error = slipway("report dev --out", out, code=EXIT_REFUSED).err
    assert f"--out {out}: the folder must be writable (" in error
    assert "Errno" not in error
    assert "Choose another one" in error


def test_an_invalid_stack_file_is_refused_at_once_without_engine_or_cloud(checkout: Path) -> None:
    (checkout / "stacks/Pulumi.dev.yaml").write_text("config: {slipway:platform: {}}\n")
    before = os.times()
    done = subprocess.run(
        [sys.executable, "-m", "slipway", "check", "dev"], cwd=checkout, capture_output=True, check=False
    )
    after = os.times()
    # Processor time, because other tests run in parallel: 0.9 s alone, 1.1 s beside them (2026-11-22).
    assert (
        after.children_user + after.children_system - before.children_user - before.children_system < 1.5 * slowness()
    )
    assert done.returncode == EXIT_REFUSED
    program = (
        "import sys; from slipway.cli import main, summary; main(['check', 'prod'])\n"
        "print(sorted({'pulumi', 'pulumi_aws', 'moto', 'boto3', 'grpc', 'botocore'} & set(sys.modules)))"
    )
    heavy = subprocess.run([sys.executable, "-c", program], cwd=checkout, capture_output=True, text=True, check=True)
    assert heavy.stdout.splitlines()[-1] == "[]"


def test_outside_a_checkout_the_installed_one_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["check", "dev"]) == 0


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (KeyboardInterrupt(), EXIT_INTERRUPTED, "slipway: interrupted"),
        (RuntimeError("boom"), 1, "slipway: unexpected RuntimeError: boom; `slipway --debug ...` shows where"),
        (OSError("no more space"), 1, "slipway: no more space"),
        (PermissionError(13, "Permission denied", "/x"), 1, "slipway: /x: Permission denied"),
    ],
)
def test_no_failure_ends_in_a_traceback(
    error: BaseException, code: int, text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_start: Path) -> None:
        raise error

    monkeypatch.setattr("slipway.cli.check.find", fail)
    assert main(["check", "dev"]) == code
    assert capsys.readouterr().err == f"{text}\n"


@pytest.mark.parametrize("line", ["why FILE --stack dev", "policies dev --manifests FILE", "check dev\x1b]0;title"])
def test_nothing_that_a_file_or_a_name_has_is_obeyed_by_the_terminal(
    line: str, checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.yaml"
    metadata = r'metadata: {name: "a\e]0;title\ab\u202ec", namespace: vision, labels: {"\e[2J": "\r"}}'
    container = r'{name: x, image: "\e[8mx", securityContext: {privileged: true}}'
    file.write_text(f"apiVersion: v1\nkind: Pod\n{metadata}\nspec: {{containers: [{container}]}}\n", encoding="utf-8")
    main([str(file) if one == "FILE" else one for one in line.split(" ")])
    shown = "".join(capsys.readouterr())
    assert "]0;title" in shown
    assert shown.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("variables", "terminal", "shown"),
    [
        ({}, True, True), ({}, False, False), ({"NO_COLOR": "1"}, True, False), ({"TERM": "dumb"}, True, False),
        ({"FORCE_COLOR": "1"}, False, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
    ],
)  # fmt: skip
def test_a_terminal_has_colors_unless_somebody_says_otherwise(
    variables: dict[str, str], terminal: bool, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    for name, value in {"TERM": "xterm", "NO_COLOR": "", "FORCE_COLOR": "", **variables}.items():
        monkeypatch.setenv(name, value)
    assert main(["check", "no\x1b[8msuch"]) == EXIT_REFUSED
    assert ("\x1b[31mstack no" in stream.getvalue()) is shown
    assert "\x1b[8m" not in stream.getvalue()


def test_losses_are_red_advice_is_yellow_and_evidence_dim() -> None:
    red = [
        "  pool h100  delete   NodePool h100",
        "  queues  1 to create, 2 to delete: 3 LocalQueue",
        "FAILED  night: x",
    ]
    red += ["  delete 3 that the program no longer declares: a", "In no figure: 100 of 300 jobs"]
    plain = [
        "  pool cpu  update   NodePool cpu",
        "job/a would be accepted: 1 pod on cpu.",
        "  queues  1 to create: 1 Job",
    ]
    shown = colored("\n".join([*red, *plain, "warning: old", "  not read: events"])).splitlines()
    assert shown[:-2] == [*(f"\x1b[31m{line}\x1b[0m" for line in red), *plain]
    assert shown[-2:] == ["\x1b[33mwarning:\x1b[0m old", "\x1b[2m  not read: events\x1b[0m"]
    assert colored("job/a waits in its queue: 1 is used; next: wait") == (
        "\x1b[31mjob/a waits in its queue:\x1b[0m 1 is used; \x1b[33mnext: wait\x1b[0m"
    )


def test_debug_shows_the_traceback(monkeypatch: pytest.MonkeyPatch, slipway: Slipway) -> None:
    monkeypatch.setattr("slipway.cli.check.find", lambda _: 1 / 0)
    assert "Traceback" in slipway("--debug check dev", code=1).err
    assert "Traceback" in slipway("check dev --debug", code=1).err


def test_a_closed_pipe_is_not_an_error(checkout: Path) -> None:
    line = f"{{ {sys.executable} -m slipway cost dev --wide; echo $? >code; }} | head -1"
    done = subprocess.run(["sh", "-c", line], cwd=checkout, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 1
    # All of it, if the pipe took it before `head` ended.
    assert (checkout / "code").read_text().strip() in ("0", "141")


def test_output_that_nobody_reads_ends_with_the_code_of_the_signal() -> None:
    code = (
        "import sys; from slipway.cli import check, main\n"
        "def find(_): raise BrokenPipeError\n"
        "check.find = find; sys.exit(main(['check', 'dev']))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 141


def test_an_interrupt_while_arguments_are_parsed_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, slipway: Slipway
) -> None:
    def stop(_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("slipway.cli.parse", stop)
    assert slipway("check dev", code=EXIT_INTERRUPTED).err == "slipway: interrupted\n"


def test_help_and_completion_load_no_settings_and_no_sdk() -> None:
    heavy = "('pydantic', 'pulumi', 'boto3', 'urllib3')"
    code = f"import sys, slipway.cli; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

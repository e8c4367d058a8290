"""Each row of the table of commands leads to a function; completion has every command, and works in bash."""

import argparse
import inspect
import itertools
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from sandbox import IN_SANDBOX_SHELL
from slipway.account.context import Diagnosis, Level
from slipway.cli import doctor
from slipway.cli.commands import COMMANDS, RENAMED, Command, function
from slipway.cli.parser import make, parse
from slipway.cli.shell import variables
from slipway.engine.shim import DIRECTORY
from spec.errors import EXIT_REFUSED
from tests.slipway.conftest import Slipway
from tests.support.cases import beside

CASES: Final = beside(__file__)

COMPLETE = """
COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
COMP_LINE="${{COMP_WORDS[*]}}"; COMP_POINT=${{#COMP_LINE}}
_shtab_slipway; printf '%s\\n' "${{COMPREPLY[@]}}"
"""


TOP: Final = make()


def leaves(commands: tuple[Command, ...], words: str = "") -> Iterator[tuple[str, Command]]:
    """The commands that do something, by their words."""
    for command in commands:
        name = f"{words} {command.name}".strip()
        yield from leaves(command.commands, name) if command.commands else [(name, command)]


@pytest.mark.parametrize(("words", "command"), [pytest.param(*leaf, id=leaf[0]) for leaf in leaves(COMMANDS)])
def test_each_command_runs_a_public_function_of_its_options(words: str, command: Command) -> None:
    for run in (command.run, *command.instead.values()):
        called = function(run)
        module, _, name = run.partition(":")
        # Defined there, so that the table leads to the file in which the work is done.
        assert (called.__module__, called.__name__) == (module, name)
        assert not name.startswith("_")
        (parameter,) = inspect.signature(called, eval_str=True).parameters.values()
        assert parameter.annotation is argparse.Namespace
        assert inspect.signature(called, eval_str=True).return_annotation is int


def test_help_has_the_commands_in_groups_on_one_page(slipway: Slipway) -> None:
    lines = slipway("--help").out.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert len(COMMANDS) <= 22


@pytest.mark.parametrize(("old", "new"), CASES["a line of the release before is answered, and says the new one"])
def test_a_line_of_the_release_before_is_answered(old: str, new: str, capsys: pytest.CaptureFixture[str]) -> None:
    before, name = parse(old.split()), next(one for one in RENAMED if old.startswith(one))
    assert capsys.readouterr().err == f"warning: `slipway {name}` is now `slipway {new}`\n"
    assert {**vars(before), "parser": None} == {**vars(parse(new.split())), "parser": None}


def test_every_renamed_line_is_a_case() -> None:
    lines = [old for old, _ in CASES["a line of the release before is answered, and says the new one"]]
    assert {name for name in RENAMED if not any(one.startswith(name) for one in lines)} == {"completion"}


def parsers(above: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The parser of each command that does something."""
    below = next((one for one in above._actions if isinstance(one, argparse._SubParsersAction)), None)
    yield from itertools.chain(*map(parsers, below.choices.values())) if below else [above]


def given(action: argparse.Action) -> list[str]:
    """The option with a value that it takes; two values where an argument may have several."""
    choices = action.choices or ("7", "90m", "111122223333", "a=b")
    value = next(str(one) for one in choices if not isinstance(taken(action.type or str, str(one)), Exception))
    return [
        *action.option_strings[:1],
        *[value] * ({"*": 2, "+": 2, 0: 0}.get(action.nargs, 1) if action.nargs is not None else 1),
    ]


def taken(kind: Any, value: str) -> Any:
    try:
        return kind(value)
    except (ValueError, argparse.ArgumentTypeError) as error:
        return error


@pytest.mark.parametrize("parser", [pytest.param(one, id=one.prog) for one in parsers(TOP)])
def test_options_stand_before_between_and_after_the_other_arguments(
    parser: argparse.ArgumentParser, capsys: pytest.CaptureFixture[str]
) -> None:
    actions = [one for one in parser._actions if not isinstance(one, argparse._HelpAction)]
    groups = [one._group_actions for one in parser._mutually_exclusive_groups if one.required]
    needed = [one for one in actions if one.option_strings and one.required] + [each[0] for each in groups]
    grouped = list(itertools.chain(*groups))
    others = [word for one in actions if not one.option_strings and one not in grouped for word in given(one)]
    beside = [word for one in needed for word in given(one)]
    command = parser.prog.split()[1:]
    for option in (one for one in actions if one.option_strings and one not in grouped):
        words = [*given(option), *beside]
        lines = ([*command, *others[:at], *words, *others[at:]] for at in range(len(others) + 1))
        first, *rest = map(TOP.parse_args, lines)
        assert all(each == first for each in rest), option
    # What another command has is not what was meant: a suggestion is never what was typed.
    for wrong in {"--sandbox", "--yes", "--wide"} - parser._option_string_actions.keys():
        with pytest.raises(SystemExit):
            TOP.parse_args([*command, *others, *beside, wrong])
        error = capsys.readouterr().err
        assert f"{parser.prog}: error: unrecognized arguments: {wrong}" in error
        assert f"did you mean {wrong}?" not in error


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_has_every_command_and_options(shell: str, slipway: Slipway) -> None:
    text = slipway("--completion", shell).out
    for command in COMMANDS:
        assert command.name in text
    for option in ("allow-replace", "wide", "against"):
        assert option in text


@pytest.mark.parametrize(("words", "expected"), CASES["bash completes commands and options"])
def test_bash_completes_commands_and_options(words: str, expected: list[str], tmp_path: Path, slipway: Slipway) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("needs bash: install it")
    path = tmp_path / "completion"
    path.write_text(slipway("--completion bash").out + COMPLETE.format(words=words))
    done = subprocess.run([bash, "--norc", str(path)], capture_output=True, text=True, check=False)
    assert sorted(done.stdout.split()) == expected, done.stderr


@pytest.mark.parametrize(("shell", "check"), [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")])
def test_a_shell_can_read_its_script(shell: str, check: str, tmp_path: Path, slipway: Slipway) -> None:
    binary = shutil.which(shell)
    if binary is None:
        pytest.skip(f"no {shell} on this machine")
    path = tmp_path / "completion"
    path.write_text(slipway("--completion", shell).out)
    done = subprocess.run([binary, check, str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


# JSON output: one document, and of `check` and `doctor` the same results and exit codes as the text.


def test_check_lists_the_problems_of_every_stack(checkout: Path, slipway: Slipway) -> None:
    path = checkout / "stacks/Pulumi.dev.yaml"
    path.write_text(path.read_text().replace("region: us-east-1", "region: us-east-9"))
    dev, prod, missing = slipway("check dev prod nosuch --json", code=EXIT_REFUSED).document
    assert (dev["stack"], dev["valid"]) == ("dev", False)
    assert {"path", "rule", "value", "fix", "at"} == dev["problems"][0].keys()
    assert (dev["problems"][0]["path"], dev["problems"][0]["value"]) == ("account.region", "us-east-9")
    assert dev["problems"][0]["at"] == "stacks/Pulumi.dev.yaml:9:7"
    assert prod == {"stack": "prod", "valid": True, "problems": [], "warnings": []}
    assert missing["problems"][0]["rule"] == "the stack file must exist"


@pytest.mark.parametrize(("line", "key", "value"), CASES["the standard output of a command is one document"])
def test_the_standard_output_of_a_command_is_one_document(
    line: str, key: str, value: str, checkout: Path, slipway: Slipway
) -> None:
    document = json.loads(slipway(f"{line} --json").out)
    found = document[0] if isinstance(document, list) else document.get("workload", document)
    assert found[key] == value


def test_strict_makes_a_stack_with_warnings_invalid(
    checkout: Path, slipway: Slipway, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In extended support, which is a warning.
    monkeypatch.setenv("SLIPWAY_TODAY", "2027-06-01")
    (lenient,) = slipway("check dev --json").document
    assert lenient["valid"]
    assert lenient["warnings"]
    (strict,) = slipway("check dev --json --strict", code=EXIT_REFUSED).document
    assert not strict["valid"]
    assert strict["warnings"] == lenient["warnings"]


@pytest.mark.parametrize(("line", "source"), [("doctor", "_machine"), ("doctor --aws dev", "_account")])
def test_doctor_prints_each_finding_with_its_fix(
    line: str, source: str, slipway: Slipway, monkeypatch: pytest.MonkeyPatch
) -> None:
    findings = [Diagnosis(Level.OK, "Python", "3.13"), Diagnosis(Level.FAILED, "disk", "full", "free 3 GiB")]
    monkeypatch.setattr(doctor, source, lambda *_: findings)
    assert slipway(f"{line} --json", code=1).document == [
        {"level": "ok", "what": "Python", "state": "3.13", "fix": ""},
        {"level": "failed", "what": "disk", "state": "full", "fix": "free 3 GiB"},
    ]


def test_check_compares_a_multikueue_manager_with_its_worker(checkout: Path, slipway: Slipway) -> None:
    dev = checkout / "stacks/Pulumi.dev.yaml"
    text = dev.read_text()
    manager = "    queues: {workers: {west: {secret: kubeconfig-west, stack: west}}, remotePools: [h100]}\n    teams:\n"
    as_manager = text.replace("kueue: {replicas: 1,", "kueue: {multiKueue: manager, replicas: 1,")
    dev.write_text(as_manager.replace("    teams:\n", manager))
    (refused,) = slipway("check dev --json", code=EXIT_REFUSED).document
    assert [one["rule"] for one in refused["problems"]] == ["must be a stack whose file is valid"]
    worker = text.replace("kueue: {replicas: 1,", "kueue: {multiKueue: worker, replicas: 1,")
    (checkout / "stacks/Pulumi.west.yaml").write_text(worker.replace("name: dev", "name: west"))
    slipway("check dev west")


# The output of `slipway sandbox env`, evaluated in real shells.


NASTY = "a b'c\"d$HOME`id`;\\ é\n*"
SANDBOX = {"PULUMI_BACKEND_URL": "file:///home/state", "AWS_ACCESS_KEY_ID": "sandbox", "NASTY": NASTY}
USER = {"PATH": "/usr/bin:/bin", "AWS_PROFILE": "production", "PULUMI_ACCESS_TOKEN": "pul", "HOME": "/home/me"}


def test_variables_that_point_outside_are_unset_unless_the_sandbox_sets_them() -> None:
    changes = variables(SANDBOX, {**USER, "AWS_ACCESS_KEY_ID": "AKIAREAL"}, [])
    assert changes.unset == ("AWS_PROFILE", "PULUMI_ACCESS_TOKEN")
    assert changes.set["AWS_ACCESS_KEY_ID"] == "sandbox"
    assert changes.set[IN_SANDBOX_SHELL] == "1"


def test_entering_twice_changes_nothing_more() -> None:
    first = variables(SANDBOX, USER, [f"/home/{DIRECTORY}"])
    inside = {name: value for name, value in USER.items() if name not in first.unset} | dict(first.set)
    second = variables(SANDBOX, inside, [f"/home/{DIRECTORY}"])
    assert second.set == first.set
    assert second.unset == ()


def test_the_shim_comes_before_the_sandboxs_own_directory_on_path() -> None:
    changes = variables({"PATH": "/sandbox/bin:/usr/bin"}, USER, ["/shim"])
    assert changes.set["PATH"] == "/shim:/sandbox/bin:/usr/bin"


@pytest.mark.parametrize("shell", ["sh", "bash", "zsh"])
def test_every_value_survives_eval_in_a_shell(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} on this machine")
    script = variables(SANDBOX, USER, ["/shim with space"]).script()
    program = 'eval "$1"; printf "%s|%s|%s" "$NASTY" "${AWS_PROFILE-unset}" "$PATH"'
    done = subprocess.run(
        [shutil.which(shell) or shell, "-c", program, shell, script],
        env={**USER, "LC_ALL": os.environ.get("LC_ALL", "C.UTF-8")}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == f"{NASTY}|unset|/shim with space:/usr/bin:/bin"
    assert done.stderr == ""

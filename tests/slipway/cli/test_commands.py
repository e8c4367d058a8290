"""Each row of the table of commands leads to a function; completion has every command, and works in bash."""

import argparse
import inspect
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from slipway.cli import main
from slipway.cli.commands import COMMANDS, SHELLS
from slipway.cli.grammar import Command

COMPLETE = """
COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
COMP_LINE="${{COMP_WORDS[*]}}"; COMP_POINT=${{#COMP_LINE}}
_shtab_slipway; printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def leaves(commands: tuple[Command, ...], words: str = "") -> Iterator[tuple[str, Command]]:
    """The commands that do something, by their words."""
    for command in commands:
        name = f"{words} {command.name}".strip()
        yield from leaves(command.commands, name) if command.commands else [(name, command)]


@pytest.mark.parametrize(("words", "command"), [pytest.param(*leaf, id=leaf[0]) for leaf in leaves(COMMANDS)])
def test_each_command_runs_a_public_function_of_its_options(words: str, command: Command) -> None:
    function = command.function()
    module, _, name = command.run.partition(":")
    # Defined there, so that the table leads to the file in which the work is done.
    assert (function.__module__, function.__name__) == (module, name)
    assert not name.startswith("_")
    (parameter,) = inspect.signature(function, eval_str=True).parameters.values()
    assert parameter.annotation is argparse.Namespace
    assert inspect.signature(function, eval_str=True).return_annotation is int


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_has_every_command_and_options(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = script(shell, capsys)
    for command in COMMANDS:
        assert command.name in text
    for option in ("allow-replace", "wide", "against"):
        assert option in text


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("slipway pre", ["preview"]),
        ("slipway cost --wi", ["--wide"]),
        ("slipway sandbox sta", ["start", "status"]),
        ("slipway completion f", ["fish"]),
    ],
)
def test_bash_completes_commands_and_options(
    words: str, expected: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("needs bash: install it")
    path = tmp_path / "completion"
    path.write_text(script("bash", capsys) + COMPLETE.format(words=words))
    done = subprocess.run([bash, "--norc", str(path)], capture_output=True, text=True, check=False)
    assert sorted(done.stdout.split()) == expected, done.stderr


@pytest.mark.parametrize(("shell", "check"), [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")])
def test_a_shell_can_read_its_script(
    shell: str, check: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    binary = shutil.which(shell)
    if binary is None:
        pytest.skip(f"no {shell} on this machine")
    path = tmp_path / "completion"
    path.write_text(script(shell, capsys))
    done = subprocess.run([binary, check, str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")

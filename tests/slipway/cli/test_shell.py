"""The output of `slipway sandbox env`, evaluated in real shells."""

import os
import shutil
import subprocess

import pytest

from sandbox import IN_SANDBOX_SHELL
from slipway.cli.shell import variables
from slipway.engine.shim import DIRECTORY

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

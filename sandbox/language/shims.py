"""Executables through which the CLI finds our language host, installed only if the official one is missing."""

import os
import shlex
import shutil
import sys
from contextlib import suppress
from pathlib import Path

from sandbox import environment, toolchain

LANGUAGE_HOST = "pulumi-language-python"
DYNAMIC = "pulumi-resource-pulumi-python"
"""The plugin of dynamic providers: the SDK has it as a module, and Pulumi's distribution as a script that runs it."""


def install_shims(directory: Path) -> list[Path]:
    """Writes the language host and a hard link of the CLI into `directory`, which is ours; returns the files in it.

    Put the directory first on PATH. If an official host is on PATH or beside the CLI, ours are removed and the list is
    empty.
    """
    shim, dynamic, link = directory / LANGUAGE_HOST, directory / DYNAMIC, directory / "pulumi"
    for path in (shim, dynamic, link):
        path.unlink(missing_ok=True)
    cli = toolchain.find("pulumi")
    if has_official_host(cli, directory):
        return []
    directory.mkdir(parents=True, exist_ok=True)
    # A shell script, because a #! line allows neither a long path nor one with spaces.
    # Checkouts share a sandbox: the host is the one of the checkout whose command runs, else of the one that began it.
    interpreter = f'"${{{environment.PYTHON}:-$ours}}"'
    begins = f"#!/bin/sh\nours={shlex.quote(sys.executable)}\n"
    script = f'{begins}{environment.bytecode_lines()}exec {interpreter} -P -m sandbox.language.host "$@"\n'
    _write_executable(shim, script)
    # A dynamic provider is a part of the program: the engine passes the options of its Pulumi.yaml as PULUMI_RUNTIME_*.
    named = '"${PULUMI_RUNTIME_VIRTUALENV:-}/bin/python"'
    own = f'[ -x {named} ] && exec {named} -u -m pulumi.dynamic "$@"\n'
    _write_executable(dynamic, f'{begins}{own}exec {interpreter} -u -m pulumi.dynamic "$@"\n')
    if cli is None:
        return [shim, dynamic]
    # A symbolic link does not work: the CLI looks beside the link's target.
    with suppress(OSError):
        os.link(cli.resolve(), link)
    return [shim, dynamic, link] if link.exists() else [shim, dynamic]


def has_official_host(cli: Path | None, ours: Path) -> bool:
    """Whether the CLI finds a language host other than ours."""
    if cli is not None and (cli.resolve().parent / LANGUAGE_HOST).exists():
        return True
    others = [entry for entry in os.get_exec_path() if entry and Path(entry).absolute() != ours.absolute()]
    return shutil.which(LANGUAGE_HOST, path=os.pathsep.join(others)) is not None


def _write_executable(path: Path, text: str) -> None:
    """Replace the file in one step, so that a CLI that starts meanwhile never sees half of it."""
    draft = path.with_suffix(".new")
    draft.write_text(text)
    draft.chmod(0o755)
    draft.replace(path)

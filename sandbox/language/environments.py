"""The environment of a program: the one that `runtime.options` in its Pulumi.yaml name, as Pulumi's own host finds it
(pulumi v3.258, sdk/python/toolchain). Where none is named, or it is not made yet, that of this process."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from google.protobuf import json_format
from pulumi.runtime.proto import language_pb2

_KNOWN: Final = {"toolchain": ("pip", "uv", "poetry"), "typechecker": ("none", "mypy", "pyright")}
"""Options of which one value is chosen, the first by default. Besides them there is `virtualenv`."""


@dataclass(frozen=True)
class Environment:
    """What a Pulumi.yaml in `root`, with its program in a folder, names."""

    root: Path
    program: Path
    options: Mapping[str, Any]

    @classmethod
    def of(cls, info: language_pb2.ProgramInfo) -> "Environment":
        """The environment that a request of the engine names."""
        root = Path(info.root_directory or info.program_directory)
        chosen = {name: values[0] for name, values in _KNOWN.items()}
        return cls(root, Path(info.program_directory or root), chosen | json_format.MessageToDict(info.options))

    @cached_property
    def place(self) -> Path | None:
        """Where it is, or will be; None if none is named, or poetry has made none."""
        named, toolchain = self.options.get("virtualenv"), self.options["toolchain"]
        if toolchain == "poetry":
            command = [shutil.which("poetry") or "false", "env", "info", "--path"]
            found = subprocess.run(command, cwd=self.program, capture_output=True, text=True, check=False)
            return Path(found.stdout.strip()) if found.stdout.strip() else None
        if named or toolchain == "pip":
            return self.root / str(named) if named else None
        above = (self.root, *self.root.parents)
        beside = (one for file in ("uv.lock", "pyproject.toml") for one in above if (one / file).is_file())
        return next(beside, self.root) / ".venv"

    @property
    def python(self) -> str:
        """Its interpreter, or this process's, if that is of it or it is not made yet."""
        if self.place is None or not (self.place / "bin" / "python").is_file():
            return sys.executable
        return sys.executable if self.place.samefile(sys.prefix) else str(self.place / "bin" / "python")

    @property
    def variables(self) -> dict[str, str]:
        """What activates it; nothing where it is that of this process."""
        folder = Path(self.python).parent
        path = os.pathsep.join([str(folder), os.environ.get("PATH", "")])
        return {} if self.python == sys.executable else {"VIRTUAL_ENV": str(folder.parent), "PATH": path}

    @property
    def problem(self) -> str:
        """Why modules that the program requires may be missing."""
        named = self.place or self.options["toolchain"]
        if self.python != sys.executable:
            return f"The program runs in {named}. `pulumi install` installs what it requires"
        if named == "pip":
            return "Pulumi.yaml names no environment (runtime.options.virtualenv), so the program runs in Slipway's"
        return f"Pulumi.yaml names an environment that is not made, {named}: `pulumi install` makes it"

    def install(self) -> Iterator[list[str]]:
        """The commands that make it and install what the program requires."""
        if self.options["toolchain"] != "pip":
            yield ["uv", "sync"] if self.options["toolchain"] == "uv" else ["poetry", "install", "--no-ansi"]
        elif self.place is not None and (self.program / "requirements.txt").is_file():
            yield [shutil.which("python3") or sys.executable, "-m", "venv", str(self.place)]
            yield [str(self.place / "bin" / "python"), "-m", "pip", "install", "-r", "requirements.txt"]

    def refused(self) -> str:
        """Which option is wrong, or that the type checker refuses the program; empty if neither. What the checker
        prints goes where the output of this process goes."""
        for name, values in _KNOWN.items():
            if (given := self.options[name]) not in values:
                return f"Pulumi.yaml: runtime.options.{name} must be {' or '.join(values)} (given: {given})"
        if (checker := self.options["typechecker"]) == "none":
            return ""
        exclude = ["--exclude", os.path.relpath(self.place, self.program)] if checker == "mypy" and self.place else []
        command = [self.python, "-m", checker, *exclude, str(self.program)]
        code = subprocess.run(command, cwd=self.program, env=os.environ | self.variables, check=False).returncode
        return f"{checker} refuses the program, or {self.python} lacks it: exit code {code}" if code else ""

"""A module of another project, patched or cut by us: a copy of its source, which one build takes in its place."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from sandbox.errors import AttemptError
from sandbox.toolchain import cache, cut
from sandbox.toolchain.tools import GoBuild
from spec import strict_yaml


@contextmanager
def arguments(build: GoBuild, go: Path, environment: Mapping[str, str]) -> Iterator[list[str]]:
    """The arguments with which `go build` takes the changed copy; none if the module has neither patches nor a cut.

    The copy is of Go's module cache, so go.sum has verified what the patches are applied to.

    Raises:
        AttemptError: The source can't be downloaded, git is missing, or a patch or cut doesn't fit the version.
    """
    if not build.patches and not build.cut.exists():
        yield []
        return
    # Always the same: Go keeps what it compiled by the path of the source, so that in a new folder an interrupted build
    # would begin anew (cmd/go/internal/work/exec.go, buildActionID; Go 1.26). The caller has the turn to build.
    folder = cache.root() / "source" / build.directory.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        # Where Go has the source: it is downloaded and verified if it isn't there.
        found = _output([go, "mod", "download", "-json", build.version_of], build.directory, environment)
        _copy(Path(json.loads(found)["Dir"]), folder / "source")
        if build.patches:
            _apply(build.patches, folder / "source", environment)
        if build.cut.exists():
            cut.apply(strict_yaml.read(build.cut.read_text()), build.version_of, folder / "source")
        replaced = f"\nreplace {build.version_of} => {json.dumps(str(folder / 'source'))}\n"
        (folder / "go.mod").write_text((build.directory / "go.mod").read_text() + replaced)
        shutil.copyfile(build.directory / "go.sum", folder / "go.sum")
        yield [f"-modfile={folder / 'go.mod'}"]
    finally:
        shutil.rmtree(folder)


def _copy(source: Path, target: Path) -> None:
    # Files of the module cache are read-only, and so are its folders.
    shutil.copytree(source, target, copy_function=shutil.copyfile)
    for folder, _, _ in os.walk(target):
        Path(folder).chmod(0o755)


def _apply(patches: list[Path], folder: Path, environment: Mapping[str, str]) -> None:
    # Neither a repository around the copy nor the user's settings of git may change what is applied.
    alone = {
        **environment,
        "GIT_CEILING_DIRECTORIES": str(folder.parent),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    _output(["git", "apply", "--whitespace=nowarn", *patches], folder, alone)


def _output(command: list[str | Path], folder: Path, environment: Mapping[str, str]) -> str:
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    except OSError as error:
        msg = f"can't start {command[0]}: {error.strerror}"
        raise AttemptError(msg) from error
    if done.returncode:
        msg = f"`{' '.join(map(str, command))}` failed: {(done.stderr or done.stdout).strip()}"
        raise AttemptError(msg)
    return done.stdout

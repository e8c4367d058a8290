"""Copies of the tree in which mutants run, so that the work tree stays as it is.

A copy is a Git repository of one commit: some tests ask Git which files there are. Nothing else of the machine is
written to: a run has a cache, a state and a temporary directory of its own. Mutated code runs as whoever starts it.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import cache_from_source
from pathlib import Path
from typing import Final

from sandbox.toolchain import cache
from tools.mutants.source import Mutant

_GIT: Final = ("git", "-c", "user.name=mutants", "-c", "user.email=mutants@localhost", "-c", "core.hooksPath=/dev/null")
_ORIGIN: Final = "import importlib.util, sys; print(*(importlib.util.find_spec(name).origin for name in sys.argv[1:]))"
_FOREIGN: Final = ("COV_", "GIT_", "PYTEST_")
_RECORDS: Final = ("definitions", "schemas")
"""Directories of the cache that the code itself writes; a mutant might leave wrong ones."""


class CopyError(Exception):
    """A copy can't be used."""


class Copy:
    """A copy of the tree, used by one run at a time."""

    def __init__(self, root: Path, home: Path) -> None:
        """`root` holds the copied files, `home` what its runs write."""
        self.root = root
        self._home = home

    @contextmanager
    def changed(self, mutant: Mutant) -> Iterator[None]:
        """The copy with a mutant in it; afterwards all files are as before, those too that the mutant wrote.

        Its byte code is removed: two versions of a file may have one size and one time.
        """
        path = self.root / mutant.path
        bytecode = Path(cache_from_source(str(path)))
        try:
            bytecode.unlink(missing_ok=True)
            path.write_text(mutant.after, encoding="utf-8")
            yield
        finally:
            for arguments in (["reset", "--quiet", "--hard"], ["clean", "--quiet", "-d", "--force"]):
                _git(self.root, *arguments)
            bytecode.unlink(missing_ok=True)

    @contextmanager
    def environment(self) -> Iterator[dict[str, str]]:
        """Variables of one run, whose directories are removed after it."""
        shutil.rmtree(self._home, ignore_errors=True)
        for name in ("cache", "state", "tmp"):
            (self._home / name).mkdir(parents=True)
        (self._home / "cache" / "tools").symlink_to(cache.root() / "tools")
        for name in _RECORDS:
            # What is written meanwhile, or is not there, is written anew.
            with suppress(OSError):
                shutil.copytree(cache.root() / name, self._home / "cache" / name)
        try:
            yield {
                **{key: value for key, value in os.environ.items() if not key.startswith(_FOREIGN)},
                "PYTHONPATH": str(self.root),
                "SLIPWAY_CACHE": str(self._home / "cache"),
                "XDG_STATE_HOME": str(self._home / "state"),
                "TMPDIR": str(self._home / "tmp"),
            }
        finally:
            shutil.rmtree(self._home, ignore_errors=True)


def make(tree: Path, directory: Path, name: str) -> Copy:
    """A copy of all files of a tree that Git knows or would add.

    Raises:
        CopyError: The tree is no Git repository.
    """
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    if listed.returncode:
        msg = f"{tree} can't be copied: git ls-files says {listed.stderr.strip()!r}. Run it in a Git repository."
        raise CopyError(msg)
    root = directory / name
    for file in filter(None, listed.stdout.split("\0")):
        if (tree / file).is_file():
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(tree / file, root / file)
    for arguments in (["init", "--quiet"], ["add", "--all", "--force"], ["commit", "--quiet", "--message", "copy"]):
        _git(root, *arguments)
    return Copy(root, directory / f"{name}-home")


def require_own_imports(copy: Copy, packages: Sequence[str]) -> None:
    """Make sure that runs import the copy and not a package that is installed, such as the checkout itself.

    Raises:
        CopyError: A package comes from elsewhere.
    """
    with copy.environment() as environment:
        command = [sys.executable, "-c", _ORIGIN, *packages]
        found = subprocess.run(command, cwd=copy.root, env=environment, capture_output=True, text=True, check=False)
    elsewhere = [origin for origin in found.stdout.split() if not Path(origin).is_relative_to(copy.root)]
    if elsewhere or found.returncode:
        got = ", ".join(elsewhere) or found.stderr.strip()
        msg = (
            f"packages of the copy in {copy.root} are imported from elsewhere: {got}. Check PYTHONPATH and .pth files."
        )
        raise CopyError(msg)


def _git(folder: Path, *arguments: str) -> None:
    subprocess.run([*_GIT, *arguments], cwd=folder, check=True)

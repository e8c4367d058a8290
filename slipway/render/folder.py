"""Puts a rendering in a folder: the whole of it or nothing, and never over what is not a rendering."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from slipway.errors import RenderError

MARKER: Final = ".slipway-render"
"""File by which a rendering is known: only a folder that has it is replaced."""
_MARKER_TEXT: Final = "Made by `slipway render`, which replaces this folder as a whole: keep nothing of yours here.\n"


def replace(out: Path, files: Mapping[str, str]) -> None:
    """Make `out` a folder of exactly these files.

    They are written beside it first, so a full disk or an interrupt leaves the former rendering whole.

    Raises:
        RenderError: `out` is something else than an empty folder or a former rendering, or it can't be written.
    """
    check(out)
    target = out.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        try:
            _write(fresh, {**files, MARKER: _MARKER_TEXT})
            _swap(fresh, target)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    except OSError as error:
        msg = f"{out}: the folder must be writable ({error.strerror}: {error.filename}). Choose another one."
        raise RenderError(msg) from error


def check(out: Path) -> None:
    """Refuse a path whose content is somebody else's.

    Raises:
        RenderError: `out` is something else than an empty folder or a former rendering.
    """
    target = out.resolve()
    if not target.exists():
        return
    if not target.is_dir():
        msg = f"{out}: a rendering is a folder, and this is a file. Choose another path."
        raise RenderError(msg)
    found = sorted(path.name for path in target.iterdir())
    if found and MARKER not in found:
        msg = f"{out}: a rendering replaces its folder, and this one holds something else ({found[0]}). Choose another."
        raise RenderError(msg)


def _write(root: Path, files: Mapping[str, str]) -> None:
    # mkdtemp makes folders for the owner alone; a rendering is as readable as any other output.
    root.chmod(0o755)
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


def _swap(fresh: Path, target: Path) -> None:
    """Two renames: no path of the standard library exchanges two folders at once."""
    if not target.exists():
        fresh.rename(target)
        return
    baseline = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent)) / "former"
    target.rename(baseline)
    try:
        fresh.rename(target)
    except OSError:
        baseline.rename(target)
        raise
    finally:
        shutil.rmtree(baseline.parent, ignore_errors=True)

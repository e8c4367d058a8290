"""`slipway report --files`: writes a stack's program as files, in seconds and without engine, cloud or credentials."""

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from slipway.render.recording import Recording, RenderError
from spec.errors import EXIT_REFUSED
from spec.settings import Problem, load, read_stack

# Writes a rendering to a folder, all or nothing, and never over other files.


MARKER: Final = ".slipway-render"  # file that marks a rendering: only a folder with it is replaced
_MARKER_TEXT: Final = "Made by `slipway report --files`, which replaces this folder: keep nothing of yours here.\n"


def replace(out: Path, files: Mapping[str, str]) -> None:
    """Replace `out` by a folder with exactly these files.

    They are written beside it first, so that a full disk or an interrupt leaves the previous rendering intact.

    Raises:
        RenderError: `out` is neither an empty folder nor a previous rendering, or it can't be written.
    """
    check(out)
    target = out.resolve()
    with _writing(out):
        fresh = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=_made(target.parent)))
        try:
            _write(fresh, {**files, MARKER: _MARKER_TEXT})
            _swap(fresh, target)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)


def check(out: Path) -> None:
    """Refuse a path with other content, or one that can't be written, before the program runs.

    Raises:
        RenderError: `out` is neither an empty folder nor a previous rendering, or can't be written; exit code 2.
    """
    target = out.resolve()
    if not target.exists():
        with _writing(out), tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=_made(target.parent)):
            return
    if not target.is_dir():
        msg = f"{out}: a rendering is written to a folder, but this is a file. Choose another path."
        raise RenderError(msg, EXIT_REFUSED)
    names = sorted(path.name for path in target.iterdir())
    if names and MARKER not in names:
        msg = f"{out}: a rendering replaces its folder, but this one has other files ({names[0]}). Choose another."
        raise RenderError(msg, EXIT_REFUSED)


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def _writing(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        msg = f"--out {out}: the folder must be writable ({error.strerror}). Choose another one."
        raise RenderError(msg, EXIT_REFUSED) from error


def _write(root: Path, files: Mapping[str, str]) -> None:
    # mkdtemp creates folders that only the owner can read; a rendering is readable like any other output.
    root.chmod(0o755)
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


def _swap(fresh: Path, target: Path) -> None:
    """Swap by two renames: the standard library has no atomic exchange of folders."""
    if not target.exists():
        fresh.rename(target)
        return
    previous = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent)) / "previous"
    target.rename(previous)
    try:
        fresh.rename(target)
    except OSError:
        previous.rename(target)
        raise
    finally:
        shutil.rmtree(previous.parent, ignore_errors=True)


Format = Literal["pulumi", "terraform"]
"""Format of a rendering: the whole program, or its AWS resources for tools that read Terraform."""


@dataclass(frozen=True)
class Rendering:
    """A rendering: the recording, and warnings about the settings."""

    recording: Recording
    warnings: tuple[Problem, ...]


def render(stack: str, out: Path, *, stacks: Path = Path("stacks"), written_as: Format = "pulumi") -> Rendering:
    """Write a stack's resources, manifests and Helm values to a folder.

    Args:
        out: Folder to write; it must be empty, missing, or a previous rendering.
        stacks: Folder of the stack files.
        written_as: `terraform` writes only `main.tf.json`.

    Raises:
        ConfigurationError: The stack file is invalid.
        RenderError: The program can't be rendered, or the folder can't be replaced.
    """
    loaded = load(read_stack(stack, stacks), stack=stack)
    check(out)
    # Imported here: the SDKs take seconds to import, and an invalid stack file or folder is refused first.
    from slipway.render.layout import files_of  # noqa: PLC0415
    from slipway.render.program import record_platform  # noqa: PLC0415
    from slipway.render.terraform import document  # noqa: PLC0415

    recording = record_platform(loaded.platform, stack=stack)
    terraform = written_as == "terraform"
    files = {"main.tf.json": json.dumps(document(recording), indent=2) + "\n"} if terraform else files_of(recording)
    replace(out, files)
    return Rendering(recording, loaded.warnings)

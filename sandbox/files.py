"""Writing files that other processes may read at the same time."""

import os
import tempfile
from pathlib import Path


def write_atomically(path: Path, content: str | bytes, mode: int = 0o600, *, durable: bool = False) -> None:
    """Replace a file in one step, so that a reader never sees half of it. By default only its owner may read it.

    Args:
        path: The file.
        content: What it holds then; text is written as UTF-8.
        mode: Its permissions.
        durable: Wait until the content is on the disk: then a loss of power leaves the old or the new file, too.

    Raises:
        OSError: It can't be written, because the disk is full or read-only; the file is as it was.
    """
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        Path(temporary).chmod(mode)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise

"""`slipway render`: a stack's whole program as files, in seconds and without engine, cloud or credentials."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from infra.config import Problem, load, read_stack
from slipway.render import folder

if TYPE_CHECKING:
    from slipway.render.recording import Recording


@dataclass(frozen=True)
class Rendering:
    """What was rendered, and what the settings' checks would have a reader know."""

    recording: Recording
    warnings: tuple[Problem, ...]


def render(stack: str, out: Path, *, stacks: Path = Path("stacks")) -> Rendering:
    """Write a stack's resources, manifests and Helm values to a folder.

    Args:
        stack: Name of the stack: `prod` for `Pulumi.prod.yaml`.
        out: Folder that becomes the rendering; it is empty, absent or a former rendering.
        stacks: Folder of the stack files.

    Raises:
        ConfigurationError: The stack file is wrong.
        RenderError: The program can't be rendered, or the folder can't be replaced.
    """
    loaded = load(read_stack(stack, stacks), stack=stack)
    folder.check(out)
    # Imported here: the SDKs take seconds, and a wrong stack file or folder is refused before.
    from slipway.render.layout import files_of  # noqa: PLC0415
    from slipway.render.program import record_platform  # noqa: PLC0415

    recording = record_platform(loaded.platform, stack=stack)
    folder.replace(out, files_of(recording))
    return Rendering(recording, loaded.warnings)

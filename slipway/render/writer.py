"""`slipway render`: writes a stack's program as files, in seconds and without engine, cloud or credentials."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from slipway.render import folder
from spec.settings import Problem, load, read_stack

if TYPE_CHECKING:
    from slipway.render.recording import Recording


Format = Literal["pulumi", "terraform"]
"""Format of a rendering: the whole program, or its AWS resources for tools that read Terraform."""
FORMATS: tuple[Format, ...] = get_args(Format)


@dataclass(frozen=True)
class Rendering:
    """A rendering: the recording, and warnings about the settings."""

    recording: Recording
    warnings: tuple[Problem, ...]


def render(stack: str, out: Path, *, stacks: Path = Path("stacks"), written_as: Format = "pulumi") -> Rendering:
    """Write a stack's resources, manifests and Helm values to a folder.

    Args:
        stack: Name of the stack: `prod` for `Pulumi.prod.yaml`.
        out: Folder to write; it must be empty, missing, or a previous rendering.
        stacks: Folder of the stack files.
        written_as: `terraform` writes only `main.tf.json`.

    Raises:
        ConfigurationError: The stack file is invalid.
        RenderError: The program can't be rendered, or the folder can't be replaced.
    """
    loaded = load(read_stack(stack, stacks), stack=stack)
    folder.check(out)
    # Imported here: the SDKs take seconds to import, and an invalid stack file or folder is refused first.
    from slipway.render.layout import files_of  # noqa: PLC0415
    from slipway.render.program import record_platform  # noqa: PLC0415
    from slipway.render.terraform import document  # noqa: PLC0415

    recording = record_platform(loaded.platform, stack=stack)
    terraform = written_as == "terraform"
    files = {"main.tf.json": json.dumps(document(recording), indent=2) + "\n"} if terraform else files_of(recording)
    folder.replace(out, files)
    return Rendering(recording, loaded.warnings)

"""The build backend that pyproject.toml names: setuptools' for editable installs, and for nothing else.

Slipway runs from a clone. Pulumi reads `Pulumi.yaml`, `stacks/` and `policies/` there, which a wheel would not have,
and a wheel would install top-level packages called `infra`, `components` and `policies` (docs/adr/0053).

The hooks are those of PEP 517 and PEP 660. `prepare_metadata_for_build_wheel` is left out, so that a frontend that
wants a wheel's metadata comes to `build_wheel` as well.
"""

from collections.abc import Mapping
from typing import Any, NoReturn

from setuptools.build_meta import build_editable, get_requires_for_build_editable, prepare_metadata_for_build_editable

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "prepare_metadata_for_build_editable",
]

NOT_OFFERED = "Slipway is not offered as a wheel or an sdist: clone the repository and run `make setup` in the clone."


def build_wheel(
    wheel_directory: str,
    config_settings: Mapping[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> NoReturn:
    """Refused. Raises SystemExit, with which a frontend shows the sentence alone and no traceback."""
    raise SystemExit(NOT_OFFERED)


def build_sdist(sdist_directory: str, config_settings: Mapping[str, Any] | None = None) -> NoReturn:
    """Refused, as `build_wheel`."""
    raise SystemExit(NOT_OFFERED)

"""Cases of tests as data: of `test_x.py`, those of `test_x.yaml` beside it."""

from pathlib import Path
from typing import Any

from spec import strict_yaml


def beside(module: str) -> Any:
    """The cases of a module, which gives its `__file__`: by name what `parametrize` takes, or another table."""
    return strict_yaml.read(Path(module).with_suffix(".yaml").read_text(encoding="utf-8"))

"""Fixtures: a folder of charts, and a provider that installs them."""

from pathlib import Path

import pytest

from tests.sandbox.kubernetes.hooks import Hooks, make_hooks
from tests.sandbox.plane import ControlPlane


@pytest.fixture
def charts(tmp_path: Path) -> Path:
    return tmp_path / "charts"


@pytest.fixture
def hooks(plane: ControlPlane, tmp_path: Path, charts: Path) -> Hooks:
    return make_hooks(plane, tmp_path, charts)

"""Provider instances on the control plane of the tests."""

from pathlib import Path

import pytest

from sandbox.kubernetes.targets import UNKNOWN_KUBECONFIG
from tests.sandbox.kubernetes.hooks import Hooks, make_hooks
from tests.sandbox.plane import ControlPlane


@pytest.fixture
def hooks(plane: ControlPlane, tmp_path: Path) -> Hooks:
    """For the running cluster."""
    return make_hooks(plane, tmp_path)


@pytest.fixture
def first_preview(plane: ControlPlane, tmp_path: Path) -> Hooks:
    """For a cluster that does not exist yet."""
    return make_hooks(plane, tmp_path, kubeconfig=UNKNOWN_KUBECONFIG)

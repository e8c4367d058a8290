"""One scratch repository for all rehearsals."""

import shutil

import pytest

from tests.rehearsal.repository import Repository


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A checkout whose branch `main` has the small stack."""
    if shutil.which("git") is None:
        pytest.skip("no git on PATH, which pull requests need")
    return Repository.make(tmp_path_factory.mktemp("rehearsal") / "checkout")

"""Small projects that mutants are made of."""

import subprocess
from collections.abc import Mapping
from pathlib import Path


def project(root: Path, files: Mapping[str, str]) -> Path:
    """A Git repository with these files, and pytest as this project has it."""
    settings = '[tool.pytest.ini_options]\naddopts = ["--import-mode=importlib"]\nmarkers = ["slow"]\n'
    for name, text in {"pyproject.toml": settings, **files}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)
    return root

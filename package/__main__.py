"""Serves the platform as a Pulumi package."""

import sys
from pathlib import Path

# The project is not installed here, only what it needs: a lock file with hashes admits no editable install.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from infra.package import serve

if __name__ == "__main__":
    serve()

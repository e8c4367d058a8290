"""Runs the pipeline's commands on a pull request in a scratch repository."""

from __future__ import annotations

from tests.adversary.probe import Commit
from tests.rehearsal.repository import Repository


def ask(repository: Repository, probe: Commit) -> str:
    """What the command says about the change; empty if it does not say what it has to."""
    path = repository.root / probe.file
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    # A file that is changed somehow ends with one more comment.
    repository.pull_request(probe.changes or {text: f"{text}\n# changed\n"}, probe.file)
    done = repository.run(*probe.command)
    repository.git("checkout", "--quiet", "main")
    return probe.says if probe.says in done.stdout else ""

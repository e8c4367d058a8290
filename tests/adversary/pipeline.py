"""Runs the pipeline's commands on a pull request in a scratch repository."""

from __future__ import annotations

from tests.adversary.probe import Commit
from tests.rehearsal.repository import Repository
from tests.support.code_owners import owner


def ask(repository: Repository, probe: Commit) -> str:
    """What the command says about the change; empty if it does not say what it has to."""
    if probe.owned:
        return owner(probe.file)
    path = repository.root / probe.file
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    # A file that is changed somehow ends with one more comment.
    repository.pull_request(probe.changes or {text: f"{text}\n# changed\n"}, probe.file, link=probe.link)
    done = repository.run(*probe.command)
    repository.git("checkout", "--quiet", "main")
    if not probe.says:
        return done.stdout if done.returncode else ""
    return probe.says if probe.says in done.stdout else ""

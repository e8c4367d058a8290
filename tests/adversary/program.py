"""What answers the author of a pull request: the policy pack, on the recorded program of stack prod, and the pipeline's
commands, in a scratch repository."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache
from typing import Any

from policies.checks.images import images
from policies.checks.sameness import identity_of
from policies.resources.resource import Resource
from spec.settings.extensions import Extension
from tests.adversary.probe import Change, Commit
from tests.policies.production import Production, changed
from tests.rehearsal.repository import Repository
from tests.support.code_owners import owner


@cache
def production() -> Production:
    stack = Production(compared=True)
    assert stack.before is not None, "read before any change"
    return stack


def ask(probe: Change) -> str:
    """The checks that report the change; empty if none does."""
    stack = production()
    with ExitStack() as stay:
        kinds = {probe.type} if probe.type else {stack.named(probe.name)[0].type}
        for beside in probe.beside:
            kinds.add(beside.type)
            stay.enter_context(stack.with_resource(_added(beside)))
        if probe.type:
            stay.enter_context(stack.with_resource(_added(probe)))
            if probe.legitimate or probe.named:
                stay.enter_context(_in_stack_file(probe, *probe.beside))
        elif probe.removed:
            # What a rule misses belongs to other resources.
            kinds = {one.type for one in stack.inputs}
            stay.enter_context(stack.without_resource(probe.name))
        else:
            for one in stack.named(probe.name):
                stay.enter_context(changed(one, probe.edits))
                stay.enter_context(with_options(one, probe.options))
        return ", ".join(sorted(stack.new_violations(kinds)))


def _added(probe: Change) -> Resource:
    return Resource(
        type=probe.type, name="it", urn=f"urn:pulumi:prod::slipway::{probe.type}::it", read=lambda: dict(probe.props),
        provider=probe.provider, **probe.options,
    )  # fmt: skip


@contextmanager
def _in_stack_file(*probes: Change) -> Iterator[None]:
    """Name what is added in the settings temporarily."""
    stack_file = production().stack_file
    before = stack_file.boundaries
    named = {identity_of(_added(one)) or ("", "", ""): _extension(one) for one in probes}
    stack_file.__dict__["boundaries"] = replace(before, extensions=named)
    try:
        yield
    finally:
        stack_file.__dict__["boundaries"] = before


def _extension(probe: Change) -> Extension:
    version, _, kind = probe.type.removeprefix("kubernetes:").removeprefix("core/").rpartition(":")
    names = {key: value for key, value in probe.props["metadata"].items() if key in Extension.model_fields}
    used = [image.raw for image in images(_added(probe).props)]
    return Extension.model_validate({**names, "apiVersion": version, "kind": kind, "images": used})


@contextmanager
def with_options(one: Resource, options: Mapping[str, Any]) -> Iterator[None]:
    """Change options of a resource temporarily."""
    before = {name: getattr(one, name) for name in options}
    one.__dict__.update(options)
    try:
        yield
    finally:
        one.__dict__.update(before)


def ask_pipeline(repository: Repository, probe: Commit) -> str:
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

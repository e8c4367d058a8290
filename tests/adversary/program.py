"""What answers the author of a pull request: the policy pack, on the recorded program of stack prod."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from policies.checks.images import images
from policies.checks.sameness import identity_of
from policies.resources.access import MISSING
from policies.resources.resource import Resource
from spec import strict_yaml
from spec.settings.extensions import Extension
from tests.policies.build import parts
from tests.policies.production import Production, changed

PROVIDER: Final[Mapping[str, Any]] = {"region": "us-east-1", "allowedAccountIds": ["444455556666"]}


def read(name: str) -> Any:
    """A file beside this one."""
    return strict_yaml.read(Path(__file__).with_name(name).read_text(encoding="utf-8"))


CHANGES: Final = {act: words for acts in read("changes.yaml").values() for act, words in acts.items()}
WORK: Final[Sequence[Mapping[str, Any]]] = read("work.yaml")


@cache
def production() -> Production:
    stack = Production(compared=True)
    assert stack.before is not None, "read before any change"
    return stack


def report(
    *, adds: str = "", edits: str = "", removes: str = "", at: str = "", to: Any = MISSING, named: bool = False,
    **props: Any,
) -> set[str]:  # fmt: skip
    """The checks that report a change of `changes.yaml`, which says what its words mean."""
    if adds:
        return report_of_added({"adds": adds, **props}, named=named)
    stack = production()
    with ExitStack() as stay:
        if removes:
            stay.enter_context(stack.without_resource(removes))
            # What a rule misses belongs to other resources.
            return stack.new_violations({one.type for one in stack.inputs})
        for one in stack.named(edits):
            stay.enter_context(changed(one, {parts(at): to}))
        return stack.new_violations({one.type})


def report_of_added(*resources: Mapping[str, Any], named: bool) -> set[str]:
    """The checks that report resources which one pull request adds, and names in the stack file or not."""
    stack = production()
    added = [_resource(index, **words) for index, words in enumerate(resources)]
    with ExitStack() as stay:
        for one in added:
            stay.enter_context(stack.with_resource(one))
        if named:
            stay.enter_context(_in_stack_file(added))
        return stack.new_violations({one.type for one in added})


def _resource(index: int, adds: str, **props: Any) -> Resource:
    urn = f"urn:pulumi:prod::slipway::{adds}::it-{index}"
    return Resource(type=adds, name=f"it-{index}", urn=urn, read=lambda: props, provider=PROVIDER)


@contextmanager
def _in_stack_file(added: Sequence[Resource]) -> Iterator[None]:
    """Name what is added in the settings temporarily."""
    stack_file = production().stack_file
    before = stack_file.boundaries
    named = {identity_of(one) or ("", "", ""): _extension(one) for one in added}
    stack_file.__dict__["boundaries"] = replace(before, extensions=named)
    try:
        yield
    finally:
        stack_file.__dict__["boundaries"] = before


def _extension(one: Resource) -> Extension:
    version, _, kind = one.type.removeprefix("kubernetes:").removeprefix("core/").rpartition(":")
    names = {key: value for key, value in one.props.raw["metadata"].items() if key in Extension.model_fields}
    used = [image.raw for image in images(one.props)]
    return Extension.model_validate({**names, "apiVersion": version, "kind": kind, "images": used})

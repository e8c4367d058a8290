"""The whole program compared with what the stack file's settings give."""

from base64 import b64encode
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from policies.checks.images import images
from policies.checks.sameness import MASKED, Comparison, identity_of, named
from policies.resources import tokens
from policies.resources.access import tree
from policies.resources.resource import Resource, Stack
from policies.rule import ANY, Context, ResourceRule, StackRule, Violation, violation
from policies.stack_file import COMPONENT, Declared

_OF_RELEASE: Final = frozenset({"checksum", "compat", "resourceNames", "timeout"})
"""Arguments of a release that its provider computes or drops, and a time-out (pulumi-kubernetes v4.34.2,
provider/pkg/provider/helm_release.go, Check)."""

_FILLED: Final = ("aws:", tokens.AWS_PROVIDER, tokens.KUBERNETES_PROVIDER)
"""Begins the types whose inputs AWS's provider fills in, or the SDK in the engine: the version of a plugin."""


def _changed(one: Resource, context: Context) -> Iterator[Violation]:
    given = context.program.get(one.urn) if context.program and one.type != tokens.STACK else None
    if given is None:
        return
    options = {**one.options, "protect": one.protect, "ignoreChanges": sorted(one.ignore_changes)}
    if one.props.raw == given.inputs and options == given.options:
        return
    filled = given.filled and one.type.startswith(_FILLED)
    yield from Comparison(given.outputs, filled=filled).maps(_checked(one, given), one.props, _of_provider(one))
    # The engine sends some options, and older code renders fewer.
    known = {key: value for key, value in given.options.items() if key in options}
    yield from Comparison().maps(known, tree({key: options[key] for key in known}))


def _checked(one: Resource, given: Declared) -> Mapping[str, Any]:
    """The given inputs as the provider writes them: a release without some arguments, texts of a Secret as data."""
    inputs = given.inputs
    if one.type == tokens.RELEASE:
        return {key: value for key, value in inputs.items() if key not in _OF_RELEASE}
    texts = inputs.get("stringData")
    if one.type != tokens.SECRET or not isinstance(texts, Mapping) or not one["stringData"].missing:
        return inputs
    rest = {key: value for key, value in inputs.items() if key != "stringData"}
    return {**rest, "data": {**inputs.get("data", {}), **{key: _encoded(text) for key, text in texts.items()}}}


def _encoded(text: str) -> str:
    return text if text in MASKED else b64encode(text.encode()).decode()


def _of_provider(one: Resource) -> Collection[str]:
    """Inputs that the provider sets beside the program's: all tags (pulumi-aws v7.51, provider/tags.go), and arguments
    of a release without a value."""
    if one.type == tokens.RELEASE:
        return _OF_RELEASE | {key for key, node in one.props.fields().items() if not node.raw}
    return ("tagsAll",) if one.type.startswith("aws:") else ()


def _added(one: Resource, context: Context) -> Iterator[Violation]:
    made = not one.type.startswith((COMPONENT, tokens.STACK))
    if not context.program or not made or one.urn in context.program:
        return
    extension = named(context.boundaries, one)
    if extension is None or any(_same_object(urn, given, one) for urn, given in context.program.items()):
        yield Violation(path="", got=f"a {one.type} that they don't give", value=one.type)
        return
    for image in images(one.props):
        if image.raw not in extension.images:
            yield violation(image, f"{image.shown}, which its entry in `extensions` doesn't have")


def _same_object(urn: str, given: Declared, one: Resource) -> bool:
    """Whether a resource of another name is the same object of the cluster, which server-side apply would change."""
    metadata: Mapping[str, Any] = given.inputs.get("metadata") or {}
    kind = urn.rpartition("::")[0].rpartition("::")[2].rpartition("$")[2]
    return bool(metadata) and identity_of(one) == (kind, metadata.get("namespace") or "", metadata.get("name"))


AS_GIVEN = ResourceRule(
    name="program-as-given",
    types=ANY,
    finds={
        "changed": _changed,
        "added": _added,
    },
    program_only=True,
)


def _missing(stack: Stack, context: Context) -> Iterator[Violation]:
    """A run for the network alone has no cluster yet, and declares nothing else."""
    there = {one.urn for one in stack.resources}
    if context.program and (context.existing or stack.of(tokens.CLUSTER)):
        for urn in context.program.keys() - there:
            kind, _, name = urn.rpartition("$")[2].rpartition("::")
            yield Violation(path="", got=f"without {kind.rpartition(':')[2]} {name}")


def _exported(stack: Stack, context: Context) -> Iterator[Violation]:
    """Without the values: whoever runs the program may have credentials in its environment."""
    for one in stack.of(tokens.STACK):
        given = context.program.get(one.urn) if context.program else None
        for other in Comparison().maps(given.inputs, one.props) if given else ():
            yield Violation(path=other.path, got="another output than the settings give", at=one)


COMPLETE = StackRule(
    name="program-complete",
    types=(tokens.CLUSTER, tokens.STACK),
    finds={
        "declared": _missing,
        "outputs": _exported,
    },
)

"""What the stack file gives, for rules that compare the program with it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache, cached_property
from hashlib import sha256
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from infra.boundaries import Boundaries
    from slipway.render.recording import RecordedResource, Recording
    from spec.settings.platform import Platform

KEY = "slipway:platform"  # Key of the settings in the configuration of a stack
COMPONENT: Final = "slipway:"  # begins the types of components, which are made nowhere
_SHORTEST: Final = 6  # letters of the shortest text that is a sample of an output: `vpc-1a`, but not `true` or `17.4`


@dataclass(frozen=True, kw_only=True)
class Declared:
    """A resource as the platform's program declares it for a stack's settings."""

    inputs: Mapping[str, Any]
    """Its inputs; of the stack itself, its outputs. Outputs of other resources in them are samples of
    `slipway.render`."""
    options: Mapping[str, Any] = field(default_factory=dict)  # its options, as in a rendering
    filled: bool = False  # whether it is compared with inputs that a provider has checked, and filled in
    outputs: Mapping[str, str] = field(default_factory=dict)
    """Regular expressions of the outputs of other resources that may be in its inputs, by their samples."""


Program = Mapping[str, Declared]  # a program's resources by URN, without components


def program_of(rendered: Iterable[Mapping[str, Any]], outputs: Mapping[str, Any]) -> Program:
    """The program in `resources.json` and `exports.json` of a rendering."""
    return {
        one["urn"]: Declared(inputs=one["inputs"] if one["parent"] else outputs, options=one["options"])
        for one in rendered
        if not one["type"].startswith(COMPONENT)
    }


def recorded(recording: Recording, looked_up: Mapping[str, str] = MappingProxyType({})) -> Program:
    """The program in a recording whose outputs are samples, for resources of the engine, which sends two options and
    no outputs of the stack. Of what the program looks up there may be expressions, as of outputs."""
    own = {one.urn: dict(_patterns(one)) for one in recording}

    @cache
    def outputs(urn: str) -> dict[str, str]:
        """Those of the resources that it depends on, and of theirs: one may pass on what it got."""
        needed = recording.resources[urn].options.dependencies
        found = {sample: text for one in needed for sample, text in {**outputs(one), **own[one]}.items()}
        return {**looked_up, **found}

    return {
        one.urn: Declared(
            inputs=one.inputs.plain,
            options={"protect": one.options.protect, "ignoreChanges": list(one.options.ignore_changes)},
            filled=True,
            outputs=outputs(one.urn),
        )
        for one in recording
        if one.parent and not one.type.startswith(COMPONENT)
    }


def _patterns(one: RecordedResource) -> Iterator[tuple[str, str]]:
    """Samples of a resource's outputs that are not its inputs, with the expression of what AWS may answer.

    What is random in a sample is a digest of the URN. An ARN, an ID and a name have no other part that varies; another
    output may be any word: addresses of a sandbox, names that AWS makes of names.
    """
    digest = sha256(one.urn.encode()).hexdigest()
    uuid = "-".join((digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32]))
    random = re.compile("|".join((uuid, digest[:32], digest[:17], digest[:8], digest[:7])), re.IGNORECASE)
    inputs, names = set(_texts(one.inputs.plain)), (one.id, *(one.outputs.plain.get(key) for key in ("name", "bucket")))
    for text in {*_texts(one.outputs.plain), one.id} - inputs:
        if len(text) >= _SHORTEST and not text.startswith("["):
            parts = [re.escape(part) for part in random.split(text)]
            whole = text.startswith("arn:") or (text in names and "://" not in text)
            yield text, "[0-9A-Za-z-]+".join(parts) if whole else r"[^\s\"'*,]+"


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


class StackFile:
    """The settings of a stack, which rules read on first use.

    Args:
        platform: Reads the settings.
        program: Renders the platform's program for them; None where the program that is judged is the rendering.
    """

    def __init__(self, platform: Callable[[], Platform], program: Callable[[Platform], Program] | None = None) -> None:
        self._platform = platform
        self._program = program

    @cached_property
    def account(self) -> str:
        """ID of the account of these settings; SlipwayError as below."""
        return self._platform().account.id

    @cached_property
    def existing(self) -> tuple[str, str] | None:
        """Name and version of a cluster that the program doesn't make; SlipwayError as below."""
        cluster = self._platform().cluster
        return (cluster.existing.name, cluster.version) if cluster.existing is not None else None

    @cached_property
    def boundaries(self) -> Boundaries:
        """What the platform's components declare for these settings."""
        # The components take 0.6 s of CPU to import (2026-11), and the pack of another program needs none of them.
        from infra.boundaries import boundaries  # noqa: PLC0415

        return boundaries(self._platform())

    @cached_property
    def program(self) -> Program | None:
        """The whole program as these settings give it, if it is to be compared."""
        return self._program(self._platform()) if self._program else None


def from_platform(platform: Platform, program: Program | None = None) -> StackFile:
    """That of settings which are loaded already, with the program that they give."""
    return StackFile(lambda: platform, None if program is None else lambda _: program)


def from_configuration(configuration: Mapping[str, str], stack: str) -> StackFile | None:
    """That of a stack's configuration as the engine sends it; None for a program without such settings.

    It is read and the program rendered at once, in a thread: the engine starts the program in the meantime.
    """
    if KEY not in configuration:
        return None

    def platform() -> Platform:
        from spec.settings import load  # noqa: PLC0415 - as above

        return load(json.loads(configuration[KEY]), stack=stack).platform

    def program(loaded: Platform) -> Program:
        from slipway.render.monitor import looked_up  # noqa: PLC0415 - as above, 1.3 s
        from slipway.render.program import record_platform  # noqa: PLC0415

        return recorded(record_platform(loaded, stack=stack), looked_up(loaded))

    stack_file = StackFile(platform, program)
    ThreadPoolExecutor(1, "stack-file").submit(lambda: (stack_file.boundaries, stack_file.program))
    return stack_file

"""A stack file with changes: what `check` and the policies say of it, its program, and its text."""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, Final

from pulumi_policy import EnforcementLevel

from policies.rule import environment
from policies.rules import BY_NAME
from policies.runner import Finding
from slipway.render import evaluation
from slipway.render.program import record_platform
from slipway.render.recording import Recording
from slipway.why import fix
from spec.errors import SlipwayError
from spec.settings import PROJECT, ConfigurationError, Platform, load
from spec.settings.load import KEY, Edits, edited

ABOVE: Final = ("config", f"{PROJECT}:{KEY}")  # where a stack file has its settings


class NotAllowedError(Exception):
    """`check`, the program or a mandatory policy refuses a change; the text says which, and by which rule."""


@dataclass
class Stack:
    """A stack file, and what its program makes of changes."""

    name: str
    path: Path  # its file
    settings: Mapping[str, Any]  # the value of `slipway:platform`
    today: date  # day of prices, support and suppressions
    _found: frozenset[tuple[str, ...]] = field(default=frozenset(), init=False)

    def as_it_is(self) -> tuple[Platform, Recording]:
        """Settings and program; what the policies find in them already is no reason against a change."""
        platform = load(self.settings, stack=self.name, today=self.today).platform
        recording = record_platform(platform, stack=self.name)
        self._found = frozenset(self._mandatory(evaluation.check(recording, self.today)))
        return platform, recording

    def changed(self, edits: Edits, *, preview: bool = False) -> tuple[Platform, Recording]:
        """Settings and program with changes.

        Args:
            edits: The changes.
            preview: Evaluate the policies as in a preview, too.

        Raises:
            NotAllowedError: They aren't valid, or a mandatory policy refuses them.
        """
        try:
            platform = load(edited(self.settings, edits), stack=self.name, today=self.today).platform
            recording = record_platform(platform, stack=self.name)
        except ConfigurationError as error:
            msg = f"check: {error.problems[0].rule}"
            raise NotAllowedError(msg) from error
        except SlipwayError as error:
            msg = f"program: {error}"
            raise NotAllowedError(msg) from error
        found = evaluation.check(recording, self.today)
        if preview:
            again = record_platform(platform, stack=self.name, preview=True)
            found += evaluation.check(again, self.today)
        for one in sorted(self._mandatory(found) - self._found):
            msg = f"policy: {one[0]}"
            raise NotAllowedError(msg)
        return platform, recording

    def _mandatory(self, found: Iterable[Finding]) -> set[tuple[str, ...]]:
        stage = environment(self.name)
        return {
            (one.id, one.urn, one.path, one.value)
            for one in found
            if one.counts(self.today) and BY_NAME[one.rule].levels.of(stage) is EnforcementLevel.MANDATORY
        }

    def text(self, edits: Edits) -> str:
        """The stack file with changes, its comments and its layout."""
        changes = [
            fix.Change((*ABOVE, *path), value, None, "")
            for path, value in edits.items()
            if value is not None or self._has(path)
        ]
        return fix.written(self.path.read_text(encoding="utf-8-sig"), changes)

    def _has(self, path: tuple[str, ...]) -> bool:
        below: Any = self.settings
        for key in path:
            below = below.get(key) if isinstance(below, Mapping) else None
        return below is not None

    def diff(self, edits: Edits) -> str:
        """The changes of the file as a unified diff, for `git apply`."""
        name = f"stacks/{self.path.name}"
        old, new = (
            text.splitlines(keepends=True) for text in (self.path.read_text(encoding="utf-8-sig"), self.text(edits))
        )
        return "".join(difflib.unified_diff(old, new, f"a/{name}", f"b/{name}", n=1))

"""The stacks of the sandbox's backend: creating one, reading its state, and unlocking it after a killed run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from slipway.engine import history, locks, process, state
from slipway.engine.invocation import Invocation
from slipway.engine.stackfiles import PROJECT, Overlay, stack_file
from spec.errors import SlipwayError

Say = Callable[[str], None]


@dataclass(frozen=True)
class SandboxEngine:
    """The CLI with the sandbox's environment, backend directory and copies of the stack files."""

    pulumi: Path
    environment: Mapping[str, str]
    backend: Path
    overlay: Overlay

    def has(self, stack: str) -> bool:
        """Whether the backend has the stack (pulumi v3.258.0 keeps `.pulumi/stacks/<project>/<stack>.json`)."""
        return any((self._directory / f"{stack}.json{suffix}").is_file() for suffix in ("", ".gz", ".zst"))

    def prepare(self, committed: Path, stack: str) -> Path:
        """The stack file for a run; the stack is created if the backend lacks it.

        Raises:
            SlipwayError: The stack file can't be copied, or the engine can't create the stack.
        """
        self.backend.mkdir(parents=True, exist_ok=True)
        self.overlay.make()
        copy = self.overlay.copy(stack_file(committed, stack))
        if not self.has(stack):
            process.capture(self.command(("stack", "select", "--create", "--stack", stack)))
        return copy

    def state(self, stack: str) -> state.StackState:
        """The state after the stack's last run; empty for a stack that does not exist.

        Raises:
            SlipwayError: The engine can't read it.
        """
        return state.parse(self.export(stack)) if self.has(stack) else state.StackState()

    def export(self, stack: str) -> str:
        """The output of `pulumi stack export`.

        Raises:
            SlipwayError: The engine can't read the state.
        """
        return process.capture(self.command(("stack", "export", "--stack", stack)))

    def interrupted(self, stack: str) -> bool:
        """Whether a killed run left operations open. It reads the backend's file: an export takes 0.4 s (2026-11)."""
        path = self._directory / f"{stack}.json"
        return path.is_file() and '"pending_operations"' in path.read_text(encoding="utf-8")

    def history(self, stack: str) -> str:
        """The output of `pulumi stack history` as JSON; an empty list for a stack that does not exist.

        Raises:
            SlipwayError: The engine can't read it.
        """
        return process.capture(self.command((*history.ARGUMENTS, "--stack", stack))) if self.has(stack) else "[]"

    def free(self, stack: str, say: Say) -> None:
        """Remove locks whose owner is dead, and report each with `say`.

        Raises:
            SlipwayError: A running process holds the stack.
        """
        held = locks.locks(self.backend, PROJECT, stack)
        for lock in held:
            if lock.owner_lives:
                msg = f"stack {stack} is in use by another run ({lock}): wait for it to end, or interrupt it"
                raise SlipwayError(msg)
        if not held:
            return
        for lock in held:
            say(f"stack {stack} was locked by a run that is gone ({lock}); removing its lock (`pulumi cancel`)")
        self.overlay.make()
        process.capture(self.command(("cancel", "--yes", "--stack", stack)))

    @property
    def _directory(self) -> Path:
        return self.backend / ".pulumi" / "stacks" / PROJECT

    def command(self, arguments: Sequence[str]) -> Invocation:
        """The CLI with some arguments, in the sandbox."""
        argv = (str(self.pulumi), *arguments, "--non-interactive")
        return Invocation(argv, self.environment, self.overlay.root)

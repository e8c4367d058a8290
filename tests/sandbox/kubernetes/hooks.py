"""Calling the provider's hooks in a test, without gRPC and without an engine."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.kubernetes.helm.chart import Charts
from sandbox.kubernetes.helm.release import RELEASE, Releases
from sandbox.kubernetes.manifests import Manifests
from sandbox.kubernetes.provider import KubernetesProvider
from sandbox.kubernetes.targets import Settings
from sandbox.notes import Notes
from sandbox.rpc.hooks import ReadResult, Resource, Values
from tests.sandbox.plane import ControlPlane


@dataclass
class Hooks:
    """One provider instance; resources have different logical names."""

    provider: KubernetesProvider
    session: Settings
    notes: Notes

    def resource(self, token: str, name: str) -> Resource:
        return Resource(f"urn:pulumi:test::slipway::{token}::{name}", token, name)

    def check(
        self, token: str, inputs: Values, olds: Values | None = None, name: str = "it"
    ) -> tuple[Values, list[str]]:
        resource = self.resource(token, name)
        checked, failures = self.provider.check(self.session, resource, inputs, olds or {}, name.encode())
        return checked, [failure.reason for failure in failures]

    def create(self, token: str, inputs: Values, name: str = "it") -> tuple[str, Values, Values]:
        """Id, outputs and the checked inputs, which must be valid."""
        checked, failures = self.check(token, inputs, name=name)
        assert failures == []
        id, outputs = self.provider.create(self.session, self.resource(token, name), checked)
        return id, outputs, checked

    def update(self, token: str, id: str, outputs: Values, olds: Values, news: Values, name: str = "it") -> Values:
        return self.provider.update(self.session, self.resource(token, name), id, outputs, news, olds)

    def read(self, token: str, id: str, outputs: Values, inputs: Values, name: str = "it") -> ReadResult | None:
        return self.provider.read(self.session, self.resource(token, name), id, outputs, inputs)

    def found(self, token: str, id: str, outputs: Values, inputs: Values) -> ReadResult:
        """What is read of an object that is there."""
        found = self.read(token, id, outputs, inputs)
        assert found is not None
        return found

    def delete(self, token: str, id: str, outputs: Values, inputs: Values, name: str = "it") -> None:
        self.provider.delete(self.session, self.resource(token, name), id, outputs, inputs)

    def replaced(self, token: str, olds: Values, news: Values) -> tuple[set[str], bool]:
        """Top-level properties that force a replacement, and whether the old object is deleted first."""
        found = self.provider.diff(self.session, self.resource(token, "it"), "id", olds, {}, news)
        replacing = {str(change.path[0]) for change in found.changes if change.replace}
        return replacing, found.delete_before_replace and bool(replacing)

    def noted(self, name: str = "it") -> dict[str, str]:
        """The notes about a resource, by kind."""
        return {str(note.kind): note.text for note in self.notes.all() if note.urn.endswith(f"::{name}")}


def make_hooks(plane: ControlPlane, home: Path, charts: Path | None = None, **config: Any) -> Hooks:
    """A provider instance for the cluster `test`, or with the given arguments."""
    notes = Notes(home)
    provider = KubernetesProvider(Manifests(plane.targets, notes), Releases(plane.targets, notes, Charts(charts)))
    return Hooks(provider, provider.configure({**plane.config(), **config}, "test"), notes)


__all__ = ["RELEASE", "Hooks", "make_hooks"]

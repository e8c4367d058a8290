"""The provider's hooks for `kubernetes:helm.sh/v3:Release`."""

import copy
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox.errors import SandboxError
from sandbox.kubernetes import crds
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.helm import records
from sandbox.kubernetes.helm.chart import Charts
from sandbox.kubernetes.helm.preview import MANAGER, Plan, Previews, make_plan, release_name
from sandbox.kubernetes.helm.records import ReleaseName
from sandbox.kubernetes.helm.running import FailedReleaseError, Installed, drifted, install, uninstall
from sandbox.kubernetes.helm.values import REFUSED, normalized
from sandbox.kubernetes.objects import DEFAULT_NAMESPACE, Object, Ref
from sandbox.kubernetes.targets import Settings, Targets
from sandbox.kubernetes.validation import with_placeholders
from sandbox.notes import Note, NoteKind, Notes
from sandbox.rpc.diff import UPDATE, Change, Diff, compare
from sandbox.rpc.errors import PartialFailureError, ProviderError
from sandbox.rpc.hooks import Failure, ReadResult, Resource
from sandbox.rpc.wire import has_unknown

RELEASE = "kubernetes:helm.sh/v3:Release"
RECORD = "slipway"
"""The output with how far the release was rehearsed."""
IMPORTED = "imported"
"""The description of a release that another tool installed."""
_REPLACING = ("name", "namespace")
_OF_RELEASE = (NoteKind.INSTALLED, NoteKind.CHECKED, NoteKind.RECORDED)
"""How far a release may be rehearsed, the furthest first."""


@dataclass(frozen=True)
class Releases:
    """The provider's hooks for a release."""

    targets: Targets
    notes: Notes
    charts: Charts
    previews: Previews = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "previews", Previews(self.targets))

    def check(
        self, settings: Settings, resource: Resource, news: Object, olds: Object, seed: bytes
    ) -> tuple[Object, list[Failure]]:
        """Fill in name and namespace, then check the values against the chart if it is available."""
        inputs = copy.deepcopy(news)
        if not inputs.get("name"):
            inputs["name"] = olds.get("name") or f"{resource.name}-{hashlib.sha256(seed).hexdigest()[:8]}"
        inputs.setdefault("namespace", settings.namespace or DEFAULT_NAMESPACE)
        if not inputs.get("chart"):
            return inputs, [Failure("chart", "a chart is required: its name, an oci:// address or a path")]
        if has_unknown(inputs["chart"]):
            return inputs, []
        inputs = normalized(inputs, self.charts)
        plan = make_plan(self.charts, inputs)
        refused = [Failure(key, f"{key}: {why}") for key, why in REFUSED.items() if inputs.get(key)]
        values, _ = with_placeholders(inputs.get("values") or {})
        problems = plan.problems(values)
        if plan.chart is not None:
            self.targets.preview_crds.offer(plan.chart.crds)
        if not (problems or refused or has_unknown(inputs)):
            problems = self._refused_objects(settings, plan, inputs)
        return inputs, [*refused, *(Failure("values", line) for line in problems)]

    def diff(self, old_inputs: Object, old_outputs: Object, news: Object) -> Diff:
        """Another name or namespace forces a replacement; anything else is an upgrade.

        So is a chart that can be rehearsed further than it was, and another version of it: the sandbox may have been
        given another folder of charts. Raises ProviderError if what is installed can't be upgraded from it.
        """
        changes = compare(old_inputs, news)
        if not has_unknown(news.get("chart")):
            plan, mode = make_plan(self.charts, news), _mode(old_outputs)
            if changes and plan.mode is not NoteKind.INSTALLED and mode == NoteKind.INSTALLED:
                msg = f"release {release_name(old_inputs)} is installed, and can't be upgraded: {plan.reason}"
                raise ProviderError(msg)
            if not changes and _further(plan, old_outputs):
                changes = (Change(("chart",), UPDATE, input=False),)
        return Diff(changes, whole_paths=True).replacing(lambda path: path[0] in _REPLACING)

    def create(self, settings: Settings, resource: Resource, inputs: Object) -> tuple[str, Object]:
        """Install. Raises PartialFailureError if Helm failed and left a release."""
        return str(release_name(inputs)), self._install(settings, resource, inputs, {}, upgrade=False)

    def update(self, settings: Settings, resource: Resource, olds: Object, news: Object) -> Object:
        """Upgrade. Raises PartialFailureError if Helm failed: the release exists."""
        return self._install(settings, resource, news, olds, upgrade=True)

    def read(
        self, settings: Settings, resource: Resource, id: str, outputs: Object, inputs: Object
    ) -> ReadResult | None:
        """The release by Helm's record of it; one that was only recorded, as it was."""
        target = self.targets.existing(settings)
        if target is None:
            return None
        if RECORD in outputs and _mode(outputs) != NoteKind.INSTALLED:
            return ReadResult(id, outputs, inputs)
        namespace, _, name = id.rpartition("/")
        revision = records.newest(target.client, ReleaseName(name, namespace or DEFAULT_NAMESPACE))
        if revision is None:
            return None
        drift = "; ".join(drifted(target.client, revision.objects(), namespace or DEFAULT_NAMESPACE))
        self.notes.set(Note(resource.urn, NoteKind.DRIFTED, drift))
        if RECORD not in outputs:
            # Imported, or adopted after a failed run, of which the state has the inputs.
            inputs = inputs or _imported(id, revision)
            outputs = {**outputs, RECORD: {"mode": str(NoteKind.INSTALLED), "description": IMPORTED}}
        return ReadResult(id, {**outputs, **_of_revision(inputs, revision)}, inputs)

    def delete(self, settings: Settings, resource: Resource, outputs: Object) -> None:
        """Uninstall. CRDs from `crds/` and objects with the policy `keep` stay, as with Helm."""
        target = self.targets.existing(settings)
        self.notes.clear(resource.urn)
        if target is None:
            return
        if _mode(outputs) == NoteKind.INSTALLED:
            try:
                uninstall(target.client, outputs)
            except SandboxError as error:
                msg = f"release {release_name(outputs)}: {error}"
                raise ProviderError(msg) from error
        crds.remove_unused_stand_ins(target.client)

    # ------------------------------------------------------------------------------------------------------------------

    def _install(
        self, settings: Settings, resource: Resource, inputs: Object, olds: Object, *, upgrade: bool
    ) -> Object:
        plan = make_plan(self.charts, inputs)
        client, release = self.targets.live(settings).client, release_name(inputs)
        _require_namespace(client, release.namespace, create=inputs.get("createNamespace") is True)
        if plan.chart is None or plan.helm is None:
            if plan.chart is not None and not inputs.get("skipCrds"):
                crds.install_all(client, plan.chart.crds, MANAGER)
                self._clear_stand_ins(client, resource)
            self._note(resource, plan)
            return _recorded(inputs, olds, plan)
        try:
            installed = install(client, plan.helm, plan.chart, inputs, upgrade=upgrade)
        except FailedReleaseError as error:
            reason = f"release {release}: {error}"
            if error.revision is None:
                raise ProviderError(reason) from error
            raise PartialFailureError(str(release), _outputs(inputs, plan, error.revision), [reason]) from error
        # Only now: what failed is not installed, whatever was planned.
        self._note(resource, plan)
        self._note_installed(resource, installed)
        self._clear_stand_ins(client, resource)
        return _outputs(inputs, plan, installed.revision)

    def _refused_objects(self, settings: Settings, plan: Plan, inputs: Object) -> list[str]:
        if plan.chart is None or plan.helm is None:
            return []
        values = inputs.get("values") or {}
        return self.previews.problems(settings, plan.helm, plan.chart, release_name(inputs), values)

    def _note(self, resource: Resource, plan: Plan) -> None:
        self.notes.clear(resource.urn, *(kind for kind in _OF_RELEASE if kind is not plan.mode))
        self.notes.set(Note(resource.urn, plan.mode, plan.text))

    def _note_installed(self, resource: Resource, installed: Installed) -> None:
        stand_ins = ", ".join(sorted(set(installed.stand_ins)))
        texts = {
            NoteKind.LEFT_OUT: "; ".join(dict.fromkeys(installed.left_out)),
            NoteKind.SIMULATED: "; ".join(installed.effects),
            NoteKind.STAND_IN: stand_ins and f"stand-in CRDs that accept any content: {stand_ins}",
        }
        for kind, text in texts.items():
            self.notes.set(Note(resource.urn, kind, text))

    def _clear_stand_ins(self, client: KubeClient, release: Resource) -> None:
        """Remove the notes on custom resources of the stack whose stand-ins the release's CRDs replaced."""
        objects: dict[str, Ref] = {}
        for note in self.notes.all():
            if note.kind is NoteKind.STAND_IN and note.urn.startswith(f"{release.program}::"):
                # The type in the URN: `...$kubernetes:keda.sh/v1alpha1:ScaledObject`.
                _, api_version, kind = note.urn.split("::")[2].rpartition("$")[2].split(":")
                objects[note.urn] = Ref(api_version, kind, "")
        present = {ref for ref in objects.values() if crds.is_served(client, ref)}
        gone = {ref for ref in present if not crds.served_by_stand_in(client, ref)}
        for urn, ref in objects.items():
            if ref in gone:
                self.notes.clear(urn, NoteKind.STAND_IN)


def _require_namespace(client: KubeClient, name: str, *, create: bool) -> None:
    """Create the release's namespace, with Helm's label, or refuse like Helm if it is missing."""
    ref = Ref("v1", "Namespace", name)
    if client.metadata(ref) is not None:
        return
    if not create:
        msg = f'namespaces "{name}" not found: create it first, or set createNamespace on the release'
        raise SandboxError(msg)
    client.apply({**ref.as_object(), "metadata": {"name": name, "labels": {"name": name}}}, MANAGER)


def _outputs(inputs: Object, plan: Plan, revision: records.Revision) -> Object:
    record = {"mode": str(plan.mode), "description": plan.text}
    return {**_public(inputs), **_of_revision(inputs, revision), RECORD: record}


def _of_revision(inputs: Mapping[str, Any], revision: records.Revision) -> Object:
    chart = revision.chart
    return {
        "resourceNames": records.resource_names(revision.objects()),
        "status": {
            "appVersion": str(chart.get("appVersion") or ""),
            "chart": str(chart.get("name") or ""),
            "name": str(inputs["name"]),
            "namespace": str(inputs["namespace"]),
            "revision": revision.number,
            "status": revision.state,
            "version": str(inputs.get("version") or chart.get("version") or ""),
        },
    }


def _recorded(inputs: Object, olds: Object, plan: Plan) -> Object:
    """The outputs of a release that Helm did not install."""
    release, chart = release_name(inputs), plan.chart
    return {
        **_public(inputs),
        "resourceNames": {},
        "status": {
            "appVersion": chart.app_version if chart else "",
            "chart": chart.name if chart else str(inputs["chart"]).rpartition("/")[2],
            "name": release.name,
            "namespace": release.namespace,
            "revision": int((olds.get("status") or {}).get("revision") or 0) + 1,
            "status": "deployed",
            "version": str(inputs.get("version") or (chart.version if chart else "")),
        },
        RECORD: {"mode": str(plan.mode), "description": plan.text},
    }


def _imported(id: str, revision: records.Revision) -> Object:
    namespace, _, name = id.rpartition("/")
    chart = revision.chart
    return {
        "name": name,
        "namespace": namespace or DEFAULT_NAMESPACE,
        "chart": str(chart["name"]),
        "version": str(chart["version"]),
        "values": dict(revision.values),
    }


def _public(inputs: Object) -> Object:
    return {key: value for key, value in inputs.items() if not key.startswith("__")}


def _further(plan: Plan, outputs: Object) -> bool:
    """Whether a plan goes beyond what was done for a release, or is for another version of its chart."""
    record = outputs.get(RECORD) or {}
    if record.get("mode") not in _OF_RELEASE:
        return False
    depth = _OF_RELEASE.index(NoteKind(record["mode"]))
    if plan.mode is NoteKind.INSTALLED and depth == 0:
        return record["description"] not in (plan.text, IMPORTED)
    return _OF_RELEASE.index(plan.mode) < depth


def _mode(outputs: Mapping[str, Any]) -> str:
    return str((outputs.get(RECORD) or {}).get("mode") or "")

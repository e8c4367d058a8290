"""The provider's hooks for `kubernetes:helm.sh/v3:Release`."""

from __future__ import annotations

import copy
import hashlib
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from slipway.sandbox.kubernetes import crds
from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.helm import install
from slipway.sandbox.kubernetes.helm.chart import Charts
from slipway.sandbox.kubernetes.helm.install import Applied
from slipway.sandbox.kubernetes.helm.plan import Plan, make_plan, release_name
from slipway.sandbox.kubernetes.helm.render import render
from slipway.sandbox.kubernetes.objects import DEFAULT_NAMESPACE, Object, Ref, is_custom_resource_definition
from slipway.sandbox.kubernetes.settings import Settings
from slipway.sandbox.kubernetes.targets import Targets
from slipway.sandbox.kubernetes.unknowns import with_placeholders
from slipway.sandbox.kubernetes.validation import Manifest, validate
from slipway.sandbox.notes import Note, NoteKind, Notes
from slipway.sandbox.rpc.diff import Diff, compare
from slipway.sandbox.rpc.errors import PartialFailureError, ProviderError
from slipway.sandbox.rpc.hooks import Failure, ReadResult, Resource
from slipway.sandbox.rpc.wire import has_unknown

RELEASE = "kubernetes:helm.sh/v3:Release"
RECORD = "slipway"
"""The output with what the sandbox did: the mode, and the applied objects."""
_REPLACING = ("name", "namespace")


@dataclass(frozen=True)
class Releases:
    """The provider's hooks for a release."""

    targets: Targets
    notes: Notes
    charts: Charts
    _accepted: set[str] = field(default_factory=set)
    """Digests of renderings that the API server has already accepted."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

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
        plan = make_plan(self.charts, inputs)
        self._note(resource, plan)
        values, _ = with_placeholders(inputs.get("values") or {})
        problems = plan.problems(values)
        if plan.chart is not None:
            self.targets.preview_crds.offer(plan.chart.crds)
        if not problems and not has_unknown(inputs):
            problems = self._refused_objects(settings, plan, inputs)
        return inputs, [Failure("values", line) for line in problems]

    def diff(self, old_inputs: Object, news: Object) -> Diff:
        """Another name or namespace forces a replacement; anything else is an upgrade."""
        return Diff(compare(old_inputs, news)).replacing(lambda path: path[0] in _REPLACING)

    def create(self, settings: Settings, resource: Resource, inputs: Object) -> tuple[str, Object]:
        """Install. If an object is refused, raises PartialFailureError with what was applied."""
        release = release_name(inputs)
        return f"{release.namespace}/{release.name}", self._upgrade(settings, resource, inputs, {})

    def update(self, settings: Settings, resource: Resource, olds: Object, news: Object) -> Object:
        """Upgrade: apply the objects that the chart renders now, remove those that it does not render any more."""
        return self._upgrade(settings, resource, news, olds)

    def read(self, settings: Settings, id: str, outputs: Object, inputs: Object) -> ReadResult | None:
        """The recorded release, as long as its cluster is running. Like Helm, this does not look at its objects."""
        if not outputs:
            msg = f"release {id} can't be imported: the sandbox keeps no Helm release records"
            raise ProviderError(msg)
        return ReadResult(id, outputs, inputs) if self.targets.existing(settings) is not None else None

    def delete(self, settings: Settings, resource: Resource, outputs: Object) -> None:
        """Uninstall. CRDs from `crds/` and objects with the policy `keep` stay, as with Helm."""
        target = self.targets.existing(settings)
        self.notes.clear(resource.urn)
        if target is not None:
            install.uninstall(target.client, _refs(outputs, "objects"))
            crds.remove_unused_stand_ins(target.client)

    # ------------------------------------------------------------------------------------------------------------------

    def _upgrade(self, settings: Settings, resource: Resource, inputs: Object, olds: Object) -> Object:
        plan = make_plan(self.charts, inputs)
        self._note(resource, plan)
        client, release = self.targets.live(settings).client, release_name(inputs)
        install.require_namespace(client, release.namespace, create=inputs.get("createNamespace") is True)
        if plan.chart is not None and not inputs.get("skipCrds"):
            install.install_crds(client, plan.chart.crds)
        objects = self._rendered(client, plan, inputs)
        applied = install.apply(client, release, objects, adopt=inputs.get("takeOwnership") is True)
        before = _refs(olds, "objects")
        obsolete = [ref for ref in before if ref not in applied.objects]
        if applied.failure:
            self._fail(client, inputs, olds, plan, applied, obsolete)
        install.uninstall(client, obsolete)
        self._note_stand_ins(resource, applied)
        return _outputs(inputs, olds, plan, applied, "deployed")

    def _fail(
        self, client: KubeClient, inputs: Object, olds: Object, plan: Plan, applied: Applied, others: list[Ref]
    ) -> None:
        release = release_name(inputs)
        reason = f"release {release.namespace}/{release.name}: {applied.failure}"
        if inputs.get("atomic") is True and not olds:
            install.uninstall(client, applied.objects)
            msg = f"{reason}; everything applied was removed again (atomic)"
            raise ProviderError(msg)
        # Objects of an earlier run that this one did not reach still exist: the next run must know them.
        applied.objects.extend(others)
        outputs = _outputs(inputs, olds, plan, applied, "failed")
        id = f"{release.namespace}/{release.name}"
        raise PartialFailureError(id, outputs, [reason])

    def _rendered(self, client: KubeClient, plan: Plan, inputs: Mapping[str, Any]) -> list[Object]:
        if plan.mode is not NoteKind.RENDERED or plan.chart is None or plan.helm is None:
            return []
        apis = sorted({name for each in client.discovery.everything() for name in _api_names(each)})
        return render(plan.helm, plan.chart, release_name(inputs), inputs.get("values") or {}, apis)

    def _refused_objects(self, settings: Settings, plan: Plan, inputs: Object) -> list[str]:
        """The rendered objects that the API server refuses, one line each."""
        if plan.mode is not NoteKind.RENDERED:
            return []
        client, release = (self.targets.existing(settings) or self.targets.spare(settings)).client, release_name(inputs)
        objects = [install.placed(client, each, release) for each in self._rendered(client, plan, inputs)]
        digest = hashlib.sha256(f"{client.server} {json.dumps(objects, sort_keys=True)}".encode()).hexdigest()
        with self._lock:
            if digest in self._accepted:
                return []
        self.targets.preview_crds.offer(each for each in objects if is_custom_resource_definition(each))
        refusals = []
        for obj in objects:
            verdict = validate(self.targets, settings, Manifest(obj, install.MANAGER, force=True))
            if verdict.refusal:
                refusals.append(f"{Ref.of(obj)}: {verdict.refusal}")
        if not refusals:
            with self._lock:
                self._accepted.add(digest)
        return refusals

    def _note(self, resource: Resource, plan: Plan) -> None:
        others = {NoteKind.RENDERED, NoteKind.CHECKED, NoteKind.RECORDED} - {plan.mode}
        self.notes.clear(resource.urn, *others)
        self.notes.set(Note(resource.urn, plan.mode, plan.text))

    def _note_stand_ins(self, resource: Resource, applied: Applied) -> None:
        if applied.stand_ins:
            text = f"stand-in CRDs that accept any content: {', '.join(sorted(set(applied.stand_ins)))}"
            self.notes.set(Note(resource.urn, NoteKind.STAND_IN, text))
        else:
            self.notes.clear(resource.urn, NoteKind.STAND_IN)
        self.notes.clear(resource.urn, NoteKind.LEFT_OUT)
        if applied.left_out:
            self.notes.set(Note(resource.urn, NoteKind.LEFT_OUT, "; ".join(applied.left_out)))


def _outputs(inputs: Object, olds: Object, plan: Plan, applied: Applied, status: str) -> Object:
    release, chart = release_name(inputs), plan.chart
    names: dict[str, list[str]] = {}
    for ref in applied.objects:
        where = f"{ref.namespace}/{ref.name}" if ref.namespace else ref.name
        names.setdefault(f"{ref.kind}.{ref.api_version}", []).append(where)
    record = {
        "mode": str(plan.mode),
        "description": plan.text,
        "objects": [ref.as_object() for ref in applied.objects],
        "kept": [ref.as_object() for ref in applied.kept],
    }
    return {
        **{key: value for key, value in inputs.items() if not key.startswith("__")},
        "resourceNames": names,
        "status": {
            "appVersion": chart.app_version if chart else "",
            "chart": chart.name if chart else str(inputs["chart"]).rpartition("/")[2],
            "name": release.name,
            "namespace": release.namespace,
            "revision": int((olds.get("status") or {}).get("revision") or 0) + 1,
            "status": status,
            "version": str(inputs.get("version") or (chart.version if chart else "")),
        },
        RECORD: record,
    }


def _refs(outputs: Mapping[str, Any], which: str) -> list[Ref]:
    return [Ref.of(obj) for obj in (outputs.get(RECORD) or {}).get(which) or ()]


def _api_names(resource: Any) -> tuple[str, str]:
    return resource.api_version, f"{resource.api_version}/{resource.kind}"

"""The sandbox's aws provider: checks every type, keeps those with a mapping in moto and the others as records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sandbox.aws import asking, client, drift, invokes, lookups, naming, records, rules, tags, validators
from sandbox.aws.client import Aws, World
from sandbox.aws.kinds import ListOf, MapOf, ObjectOf, stated_problems
from sandbox.aws.lifecycle import Lifecycle
from sandbox.aws.limits import values
from sandbox.aws.limits.members import tree
from sandbox.aws.mapping import Inputs
from sandbox.aws.outputs import planned_change, planned_creation
from sandbox.aws.replacement import forces_new
from sandbox.aws.rules.rule import Case, Moment
from sandbox.aws.schema import Schema, schema
from sandbox.aws.types import MAPPINGS
from sandbox.notes import Note, NoteKind
from sandbox.rpc import diff, wire
from sandbox.rpc.diff import Change, Diff, Path
from sandbox.rpc.errors import ProviderError
from sandbox.rpc.hooks import Failure, ReadResult, Resource, Values
from sandbox.rpc.provider import Provider
from spec.catalog import kubernetes

# Finding at preview what would be refused of the inputs alone: by AWS's service models (`limits`), by `rules`, and by
# the provider as its documentation says (`documented`) or its source (`validators`).
#
# Values that are not known yet are not checked. In an `up` the engine asks again once they are known.


def check(aws: Aws, type_token: str, inputs: Inputs, given: Inputs | None = None) -> list[Failure]:
    """The problems with the inputs of a type, each with its property; no source repeats what one before it says.

    A name that was generated is not among the `given`: it conflicts with no prefix.
    """
    failures = values.check(aws, type_token, inputs)
    stated = _stated(aws, type_token, inputs if given is None else given)
    for more in (rules.problems(aws, type_token, inputs), stated):
        reported = {one.property for one in failures}
        failures += [one for one in more if one.property not in reported]
    return failures


def _stated(aws: Aws, type_token: str, inputs: Inputs) -> list[Failure]:
    """What the provider refuses at plan. A list of its documentation counts where AWS's newer model has none."""
    known = schema(type_token)
    if known is None:
        return []
    members = tree(aws, type_token)
    listed = members.listed if members is not None else ()
    return list(stated_problems(known.inputs, inputs, validators.of(type_token), listed))


VERSION = "7.51.1"
"""The release of pulumi-aws whose types are supported."""

ADDON = "aws:eks/addon:Addon"

# A provider instance with another region manages other objects.
_REPLACES_PROVIDER = frozenset({"region"})


KEPT = frozenset(MAPPINGS)
"""The types whose objects are kept in the account; others exist in the Pulumi state alone."""


class AwsProvider(Provider[Aws]):
    """Serve with `sandbox.rpc.provider.serve`."""

    version = VERSION
    takes_proposed_names = True

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world

    def configure(self, config: Mapping[str, Any], peer: str) -> Aws:
        """The account and region of the instance."""
        return client.session(self._world, config)

    def diff_config(self, resource: Resource, old_inputs: Values, news: Values) -> Diff:
        """Another region replaces the instance and all its resources."""
        changes = diff.compare(_settled(old_inputs), _settled(news))
        return Diff(changes).replacing(lambda path: path[0] in _REPLACES_PROVIDER)

    def check(
        self, session: Aws, resource: Resource, news: Values, olds: Values, seed: bytes
    ) -> tuple[Values, list[Failure]]:
        """Check against the SDK's schema, then against AWS's own models and rules."""
        known = schema(resource.type)
        if known is None:
            return news, [Failure("", f"pulumi-aws {VERSION} has no type {resource.type}")]
        inputs = naming.with_name(known, resource, news, olds, seed)
        failures = known.check(inputs)
        if resource.type == ADDON and not failures:
            failures = self._addon_problems(inputs)
        failures = failures or naming.too_long(resource.type, news)
        if not failures:
            prefixed = news.get(naming.prefix_of(resource.type)) is not None
            failures = check(_at(session, inputs), resource.type, _public(inputs), _public(news) if prefixed else None)
        if (
            resource.type == "aws:eks/cluster:Cluster"
            and session.clusters is not None
            and not wire.has_unknown(inputs.get("version"))
        ):
            name = "" if wire.has_unknown(inputs.get("name")) else str(inputs.get("name") or "")
            session.clusters.expect(resource.program, str(inputs.get("version") or kubernetes.DEFAULT), name)
        return inputs, failures

    def diff(
        self, session: Aws, resource: Resource, id: str, old_inputs: Values, old_outputs: Values, news: Values
    ) -> Diff:
        """Compare old inputs with new ones, and the object's tags with the desired tags."""
        known = _schema(resource)
        changes = [c for c in diff.compare(old_inputs, news) if not _same_text(known, c.path, old_inputs, news)]
        difference = Diff(tuple(changes)).replacing(lambda path: forces_new(resource.type, path, old_inputs, news))
        wanted = tags.merged(_at(session, news), news)
        shown = any(change.path[0] == "tags" for change in difference.changes) or wire.has_unknown(wanted)
        if "tagsAll" in known.outputs and not shown and old_outputs.get("tagsAll", {}) != wanted:
            retagged = Change(("tagsAll",), diff.UPDATE, input=False)
            difference = replace(difference, changes=(*difference.changes, retagged))
        if not difference.changes and self._addon_behind(resource, news):
            difference = replace(difference, changes=(Change(("configurationValues",), diff.UPDATE, input=False),))
        return replace(difference, delete_before_replace=naming.keeps(resource.type, old_inputs, news))

    def preview_create(self, session: Aws, resource: Resource, inputs: Values) -> Values:
        """The inputs, and the tags merged with the default tags."""
        aws, known = _at(session, inputs), _schema(resource)
        asking.creation(aws, known, MAPPINGS.get(resource.type), _public(inputs))
        return {**planned_creation(known, inputs), **_tags_all(aws, known, inputs)}

    def create(self, session: Aws, resource: Resource, inputs: Values) -> tuple[str, Values]:
        """Create in moto, or as a record."""
        aws, known = _at(session, inputs), _schema(resource)
        mapping = MAPPINGS.get(resource.type)
        if mapping is None:
            return records.create(aws, known, resource.name, _public(inputs))
        id, outputs = Lifecycle(aws, known, mapping).create(_public(inputs))
        self._note_addon(resource, inputs)
        return id, outputs

    def read(self, session: Aws, resource: Resource, id: str, outputs: Values, inputs: Values) -> ReadResult | None:
        """The live object; for a record, the state's values. Without values it is a `get` or an import."""
        mapping, aws = MAPPINGS.get(resource.type), _at(session, outputs or inputs)
        if mapping is None:
            asked = not inputs and not outputs
            return ReadResult(id, records.found(aws, _schema(resource), id) if asked else outputs, inputs)
        found = Lifecycle(aws, _schema(resource), mapping).read(id, outputs, inputs)
        if found is None and not inputs and not outputs:
            raise ProviderError(lookups.absent(aws, resource.type, repr(id)))
        return found

    def preview_update(
        self, session: Aws, resource: Resource, id: str, olds: Values, news: Values, old_inputs: Values
    ) -> Values:
        """Old outputs overlaid with the new inputs; outputs that the update changes are unknown."""
        aws, known, mapping = _at(session, news), _schema(resource), MAPPINGS.get(resource.type)
        rules.refuse(Moment.CHANGE, Case(resource.type, aws, news, olds, id))
        asking.update(aws, known, mapping, id, _public(news), _changed(old_inputs, news))
        outputs = planned_change(aws, known, mapping, id, olds, old_inputs, news)
        volatile = mapping.volatile if mapping and (_changed(old_inputs, news) or set()) - {"tags"} else ()
        return {**outputs, **_tags_all(aws, known, news), **dict.fromkeys(volatile, wire.UNKNOWN)}

    def update(
        self, session: Aws, resource: Resource, id: str, olds: Values, news: Values, old_inputs: Values
    ) -> Values:
        """Send the changed inputs."""
        aws, known, mapping = _at(session, news), _schema(resource), MAPPINGS.get(resource.type)
        if mapping is None:
            return records.update(aws, known, olds, _public(news), _public(old_inputs))
        changed = _changed(old_inputs, news)
        if known.outputs.get("tagsAll") and olds.get("tagsAll", {}) != tags.merged(aws, news):
            changed = (changed or set()) | {"tagsAll"}
        if changed is not None and self._addon_behind(resource, news):
            changed |= {"configurationValues"}
        outputs = Lifecycle(aws, known, mapping).update(id, olds, _public(news), changed)
        self._note_addon(resource, news)
        return outputs

    def delete(self, session: Aws, resource: Resource, id: str, outputs: Values, old_inputs: Values) -> None:
        """Delete from moto, or as a record."""
        aws, known, mapping = _at(session, outputs), _schema(resource), MAPPINGS.get(resource.type)
        if mapping is None:
            records.delete(aws, known, outputs)
            return
        if resource.type == ADDON and self._world.notes is not None:
            self._world.notes.clear(resource.urn)
        Lifecycle(aws, known, mapping).delete(id, outputs)

    def invoke(self, session: Aws, token: str, args: Values) -> Values:
        """Answer a data source."""
        answer = invokes.invoke(_at(session, args), token, args)
        if self._world.notes is not None and invokes.recorded_type(token):
            calls = int(self._world.notes.get(token, NoteKind.MADE_UP) or 0) + 1
            self._world.notes.set(Note(token, NoteKind.MADE_UP, str(calls)))
        return answer

    def _addon_problems(self, inputs: Mapping[str, Any]) -> list[Failure]:
        client = inputs.get("configurationValues")
        if self._world.addons is None or wire.has_unknown([inputs["addonName"], client]):
            return []
        found = self._world.addons.problems(str(inputs["addonName"]), client)
        return [Failure("configurationValues", problem) for problem in found]

    def _addon_behind(self, resource: Resource, inputs: Mapping[str, Any]) -> bool:
        if resource.type != ADDON or self._world.addons is None:
            return False
        named = inputs["clusterName"], inputs["addonName"]
        return not wire.has_unknown(list(named)) and self._world.addons.behind(*map(str, named))

    def _note_addon(self, resource: Resource, inputs: Mapping[str, Any]) -> None:
        """Say whether its pods run."""
        if resource.type != ADDON or self._world.addons is None or self._world.notes is None:
            return
        outcome = self._world.addons.outcome(str(inputs["clusterName"]), str(inputs["addonName"]))
        if outcome is not None:
            self._world.notes.clear(resource.urn)
            kind = NoteKind.INSTALLED if outcome.installed else NoteKind.RECORDED
            self._world.notes.set(Note(resource.urn, kind, outcome.text))


def _schema(resource: Resource) -> Schema:
    known = schema(resource.type)
    if known is None:
        msg = f"pulumi-aws {VERSION} has no type {resource.type}"
        raise ProviderError(msg)
    return known


def _at(session: Aws, values: Mapping[str, Any]) -> Aws:
    """The session in the resource's region; an unknown region counts as the instance's own."""
    region = values.get("region")
    return session.at(None if region == wire.UNKNOWN else region)


def _public(inputs: Values) -> Values:
    return {key: value for key, value in inputs.items() if not key.startswith("__")}


def _settled(config: Values) -> Values:
    """The arguments without those whose change has no effect, such as the plugin's version."""
    return {key: wire.nested(value) for key, value in config.items() if key not in ("version", "pluginDownloadURL")}


def _tags_all(aws: Aws, known: Schema, inputs: Values) -> Values:
    if "tagsAll" not in known.outputs:
        return {}
    return {"tagsAll": wire.UNKNOWN if wire.has_unknown(inputs.get("tags")) else tags.merged(aws, inputs)}


def _changed(old_inputs: Values, news: Values) -> set[str] | None:
    """The changed inputs; None if there are none, which means that an earlier partial failure must be completed."""
    return {str(change.path[0]) for change in diff.compare(old_inputs, news)} or None


def _same_text(known: Schema, path: Path, old_inputs: Values, news: Values) -> bool:
    """Whether a change is only one of layout: a policy document with other white space, 1 instead of "1"."""
    if len(path) != 1 or str(path[0]) not in known.inputs or path[0] not in news or path[0] not in old_inputs:
        return False
    kind = known.inputs[str(path[0])].kind
    return not isinstance(kind, (ListOf, MapOf, ObjectOf)) and drift.same(kind, old_inputs[path[0]], news[path[0]])

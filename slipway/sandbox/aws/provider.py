"""The sandbox's aws provider: checks every type, keeps those with a mapping in moto and the others as records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from slipway.errors import SandboxError
from slipway.sandbox.aws import configuration, drift, invokes, naming, parameters, records, rules, tags
from slipway.sandbox.aws.client import Aws
from slipway.sandbox.aws.configuration import World
from slipway.sandbox.aws.kinds import ListOf, MapOf, ObjectOf
from slipway.sandbox.aws.lifecycle import Lifecycle
from slipway.sandbox.aws.mapping import ResourceMapping
from slipway.sandbox.aws.mappings import MAPPINGS
from slipway.sandbox.aws.mappings.eks_cluster import CLUSTER, DEFAULT_VERSION
from slipway.sandbox.aws.replacement import forces_new
from slipway.sandbox.aws.rules.rule import Case, Moment
from slipway.sandbox.aws.schema import Schema, schema
from slipway.sandbox.rpc import diff, wire
from slipway.sandbox.rpc.diff import Change, Diff
from slipway.sandbox.rpc.errors import PartialFailureError, ProviderError
from slipway.sandbox.rpc.hooks import Failure, ReadResult, Resource
from slipway.sandbox.rpc.paths import Path
from slipway.sandbox.rpc.provider import Provider

VERSION = "7.51.1"
"""The release of pulumi-aws whose types are supported."""

ADDON = "aws:eks/addon:Addon"

# A provider instance with another region manages other objects.
_REPLACES_PROVIDER = frozenset({"region"})


class AwsProvider(Provider[Aws]):
    """Serve with `slipway.sandbox.rpc.server.serve`."""

    version = VERSION
    takes_proposed_names = True

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world

    def configure(self, config: Mapping[str, Any], peer: str) -> Aws:
        """The account and region of the instance."""
        return configuration.session(self._world, config)

    def diff_config(self, resource: Resource, old_inputs: dict[str, Any], news: dict[str, Any]) -> Diff:
        """Another region replaces the instance and all its resources."""
        changes = diff.compare(_settled(old_inputs), _settled(news))
        return Diff(changes).replacing(lambda path: path[0] in _REPLACES_PROVIDER)

    def check(
        self, session: Aws, resource: Resource, news: dict[str, Any], olds: dict[str, Any], seed: bytes
    ) -> tuple[dict[str, Any], list[Failure]]:
        """Check against the SDK's schema, then against AWS's own models and rules."""
        known = schema(resource.type)
        if known is None:
            return news, [Failure("", f"pulumi-aws {VERSION} has no type {resource.type}")]
        mapping = MAPPINGS.get(resource.type)
        inputs = naming.with_name(known, mapping, resource, news, olds, seed)
        failures = known.check(inputs)
        if resource.type == ADDON and not failures:
            failures = self._addon_problems(inputs)
        if not failures:
            failures = parameters.check(_at(session, inputs), resource.type, mapping, _public(inputs))
        if (
            resource.type == CLUSTER.type
            and session.clusters is not None
            and not wire.has_unknown(inputs.get("version"))
        ):
            session.clusters.expect(resource.program, str(inputs.get("version") or DEFAULT_VERSION))
        return inputs, failures

    def diff(
        self,
        session: Aws,
        resource: Resource,
        id: str,
        old_inputs: dict[str, Any],
        old_outputs: dict[str, Any],
        news: dict[str, Any],
    ) -> Diff:
        """Compare old inputs with new ones, and the object's tags with the desired tags."""
        known = _schema(resource)
        mapping = MAPPINGS.get(resource.type)
        changes = [c for c in diff.compare(old_inputs, news) if not _same_text(known, c.path, old_inputs, news)]
        difference = Diff(tuple(changes)).replacing(lambda path: forces_new(resource.type, path, old_inputs, news))
        wanted = tags.merged(_at(session, news), news)
        shown = any(change.path[0] == "tags" for change in difference.changes) or wire.has_unknown(wanted)
        if "tagsAll" in known.outputs and not shown and old_outputs.get("tagsAll", {}) != wanted:
            retagged = Change(("tagsAll",), diff.UPDATE, input=False)
            difference = replace(difference, changes=(*difference.changes, retagged))
        return replace(difference, delete_before_replace=_keeps_its_name(mapping, old_inputs, news))

    def preview_create(self, session: Aws, resource: Resource, inputs: dict[str, Any]) -> dict[str, Any]:
        """The inputs, and the tags merged with the default tags."""
        return {**_public(inputs), **_tags_all(_at(session, inputs), _schema(resource), inputs)}

    def create(self, session: Aws, resource: Resource, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Create in moto, or as a record."""
        aws, known = _at(session, inputs), _schema(resource)
        mapping = MAPPINGS.get(resource.type)
        if mapping is None:
            return records.create(aws, known, resource.name, _public(inputs))
        id, outputs = Lifecycle(aws, known, mapping).create(_public(inputs))
        self._addon_changed(resource, id, inputs, outputs)
        return id, outputs

    def read(
        self, session: Aws, resource: Resource, id: str, outputs: dict[str, Any], inputs: dict[str, Any]
    ) -> ReadResult | None:
        """The live object; for a record, the state's values."""
        mapping = MAPPINGS.get(resource.type)
        if mapping is not None:
            return Lifecycle(_at(session, outputs or inputs), _schema(resource), mapping).read(id, outputs, inputs)
        if not inputs and not outputs:
            msg = f"{resource.type} can't be imported: in the sandbox it is a record, which exists only in the state"
            raise ProviderError(msg)
        return ReadResult(id, outputs, inputs)

    def preview_update(
        self,
        session: Aws,
        resource: Resource,
        id: str,
        olds: dict[str, Any],
        news: dict[str, Any],
        old_inputs: dict[str, Any],
    ) -> dict[str, Any]:
        """Old outputs overlaid with the new inputs; outputs that the update changes are unknown."""
        known, mapping = _schema(resource), MAPPINGS.get(resource.type)
        rules.refuse(Moment.CHANGE, Case(resource.type, _at(session, news), news, olds, id))
        stays = {key: value for key, value in olds.items() if key not in known.inputs or key in news}
        changed = _changed(old_inputs, news) or set()
        volatile = mapping.volatile if mapping is not None and changed - {"tags"} else ()
        unknown = dict.fromkeys(volatile, wire.UNKNOWN)
        return {**stays, **_public(news), **_tags_all(_at(session, news), known, news), **unknown}

    def update(
        self,
        session: Aws,
        resource: Resource,
        id: str,
        olds: dict[str, Any],
        news: dict[str, Any],
        old_inputs: dict[str, Any],
    ) -> dict[str, Any]:
        """Send the changed inputs."""
        aws, known, mapping = _at(session, news), _schema(resource), MAPPINGS.get(resource.type)
        if mapping is None:
            return records.update(aws, known, olds, _public(news), _public(old_inputs))
        rules.refuse(Moment.CHANGE, Case(resource.type, aws, news, olds, id))
        changed = _changed(old_inputs, news)
        if known.outputs.get("tagsAll") and olds.get("tagsAll", {}) != tags.merged(aws, news):
            changed = (changed or set()) | {"tagsAll"}
        outputs = Lifecycle(aws, known, mapping).update(id, olds, _public(news), changed)
        self._addon_changed(resource, id, news, outputs)
        return outputs

    def delete(
        self, session: Aws, resource: Resource, id: str, outputs: dict[str, Any], old_inputs: dict[str, Any]
    ) -> None:
        """Delete from moto, or as a record."""
        aws, known, mapping = _at(session, outputs), _schema(resource), MAPPINGS.get(resource.type)
        if mapping is None:
            records.delete(aws, known, outputs)
            return
        if resource.type == ADDON and self._world.addons is not None:
            try:
                self._world.addons.deleted(resource.urn, str(outputs["clusterName"]), str(outputs["addonName"]))
            except SandboxError as error:
                raise ProviderError(str(error)) from error
        Lifecycle(aws, known, mapping).delete(id, outputs)

    def invoke(self, session: Aws, token: str, args: dict[str, Any]) -> dict[str, Any]:
        """Answer a data source."""
        return invokes.invoke(_at(session, args), token, args)

    def _addon_problems(self, inputs: Mapping[str, Any]) -> list[Failure]:
        configuration = inputs.get("configurationValues")
        if self._world.addons is None or wire.has_unknown([inputs["addonName"], configuration]):
            return []
        found = self._world.addons.problems(str(inputs["addonName"]), configuration)
        return [Failure("configurationValues", problem) for problem in found]

    def _addon_changed(
        self, resource: Resource, id: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any]
    ) -> None:
        """Run the pods of an add-on. If they don't become ready, it exists and is not ACTIVE, as on AWS."""
        if resource.type != ADDON or self._world.addons is None:
            return
        cluster, name = str(inputs["clusterName"]), str(inputs["addonName"])
        try:
            self._world.addons.changed(resource.urn, cluster, name, inputs.get("configurationValues"))
        except SandboxError as error:
            raise PartialFailureError(id, outputs, [str(error)]) from error


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


def _public(inputs: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in inputs.items() if not key.startswith("__")}


def _settled(config: dict[str, Any]) -> dict[str, Any]:
    """The arguments without those whose change has no effect, such as the plugin's version."""
    return {key: wire.nested(value) for key, value in config.items() if key not in ("version", "pluginDownloadURL")}


def _tags_all(aws: Aws, known: Schema, inputs: dict[str, Any]) -> dict[str, Any]:
    if "tagsAll" not in known.outputs or wire.has_unknown(inputs.get("tags")):
        return {}
    return {"tagsAll": tags.merged(aws, inputs)}


def _changed(old_inputs: dict[str, Any], news: dict[str, Any]) -> set[str] | None:
    """The changed inputs; None if there are none, which means that an earlier partial failure must be completed."""
    return {str(change.path[0]) for change in diff.compare(old_inputs, news)} or None


def _same_text(known: Schema, path: Path, old_inputs: dict[str, Any], news: dict[str, Any]) -> bool:
    """Whether a change is only one of layout: a policy document with other white space, 1 instead of "1"."""
    if len(path) != 1 or str(path[0]) not in known.inputs or path[0] not in news or path[0] not in old_inputs:
        return False
    kind = known.inputs[str(path[0])].kind
    return not isinstance(kind, (ListOf, MapOf, ObjectOf)) and drift.same(kind, old_inputs[path[0]], news[path[0]])


def _keeps_its_name(mapping: ResourceMapping | None, old_inputs: dict[str, Any], news: dict[str, Any]) -> bool:
    """Whether the program names the object: a replacement of the same name requires the old object's deletion first."""
    name = naming.property_of(mapping)
    explicit = news.get(name)
    return explicit is not None and explicit == old_inputs.get(name) and not naming.is_generated(news, name)

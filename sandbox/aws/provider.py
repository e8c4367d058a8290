"""The sandbox's aws provider: it checks every type, lets the Terraform provider act, and records what that lacks."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sandbox.aws import asking, client, invokes, lacking, naming, records
from sandbox.aws.client import Aws, AwsError, World
from sandbox.aws.limits.operations import OPERATIONS
from sandbox.aws.limits.values import code
from sandbox.aws.moto.kept import UNANSWERED
from sandbox.aws.rules import requests
from sandbox.aws.rules.names import wrong_tags
from sandbox.aws.schema import Schema, schema
from sandbox.aws.terraform import acting
from sandbox.aws.terraform.acting import Acting
from sandbox.aws.terraform.processes import Processes
from sandbox.notes import Note, NoteKind
from sandbox.rpc import diff, wire
from sandbox.rpc.diff import DEFAULTS_KEY, Change, Diff
from sandbox.rpc.errors import PartialFailureError, ProviderError
from sandbox.rpc.hooks import Failure, ReadResult, Resource, Values
from sandbox.rpc.provider import Provider
from spec.catalog import kubernetes

VERSION = "7.51.1"
"""The release of pulumi-aws whose types are supported."""

ADDON = "aws:eks/addon:Addon"
CLUSTER = "aws:eks/cluster:Cluster"

PAUSE_SECONDS = 0.2
"""Between two looks at whether a cluster is gone."""

# A provider instance with another region manages other objects.
_REPLACES_PROVIDER = frozenset({"region"})


class AwsProvider(Provider[Aws]):
    """Serve with `sandbox.rpc.provider.serve`."""

    version = VERSION
    takes_proposed_names = True

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world
        self.processes = world.processes or Processes()

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
        """Check against the SDK's schema, then by the provider."""
        known = schema(resource.type)
        if known is None:
            return news, [Failure("", f"pulumi-aws {VERSION} has no type {resource.type}")]
        inputs = naming.with_name(known, resource, news, olds, seed)
        failures = known.check(inputs)
        if resource.type == ADDON and not failures:
            failures = self._addon_problems(inputs)
        if not failures:
            prefixed = news.get(naming.prefix_of(resource.type)) is not None
            failures = self._refused(session, resource, _public(news if prefixed else inputs))
        if resource.type == CLUSTER and session.clusters is not None and not wire.has_unknown(inputs.get("version")):
            name = "" if wire.has_unknown(inputs.get("name")) else str(inputs.get("name") or "")
            session.clusters.expect(resource.program, str(inputs.get("version") or kubernetes.DEFAULT), name)
        return inputs, failures

    def diff(
        self, session: Aws, resource: Resource, id: str, old_inputs: Values, old_outputs: Values, news: Values
    ) -> Diff:
        """What the provider plans to change, and which of it replaces the object."""
        acts = self._acting(session, resource, old_outputs)
        if acts is None:
            found = Diff(diff.compare(old_inputs, news)).replacing(lambda path: path[0] == "region")
        else:
            plan = acts.change(id, old_outputs, _public(news))
            found = Diff(acts.changes(plan, old_inputs, news))
        if not found.changes and self._addon_behind(resource, news):
            found = replace(found, changes=(Change(("configurationValues",), diff.UPDATE, input=False),))
        return replace(found, delete_before_replace=naming.keeps(resource.type, old_inputs, news))

    def preview_create(self, session: Aws, resource: Resource, inputs: Values) -> Values:
        """What the provider plans, if the account would not refuse it."""
        acts = None if _has_files(inputs) else self._acting(session, resource)
        if acts is None:
            return records.planned(_at(session, inputs), _schema(resource), _public(inputs))
        plan = acts.creation(_public(inputs))
        asking.ask(acts, plan)
        return acts.planned(plan, _public(inputs))

    def create(self, session: Aws, resource: Resource, inputs: Values) -> tuple[str, Values]:
        """Create in the account, or as a record if nothing in it answers."""
        acts, given = None if _has_files(inputs) else self._acting(session, resource), _public(inputs)
        if acts is not None:
            try:
                id, outputs = acts.make(acts.creation(given), given)
            except PartialFailureError as error:
                if resource.type == CLUSTER:
                    raise _given_up(_at(session, inputs), error) from error
                if UNANSWERED not in str(error):
                    raise
                # The object exists: what a later request would have set is in the state alone.
                self._note(resource, str(error).rpartition("api error ")[2])
                return error.id, dict(error.outputs)
            except ProviderError as error:
                if UNANSWERED not in str(error):
                    raise
                self._note(resource, "all of it")
            else:
                self._made(acts, resource, id, outputs, inputs, {})
                return id, outputs
        return records.create(_at(session, inputs), _schema(resource), resource.name, given)

    def read(self, session: Aws, resource: Resource, id: str, outputs: Values, inputs: Values) -> ReadResult | None:
        """The live object; for a record, the state's values. Without values it is a `get` or an import."""
        acts = self._acting(session, resource, outputs)
        if acts is None:
            asked = not inputs and not outputs
            aws = _at(session, outputs or inputs)
            return ReadResult(id, records.found(aws, _schema(resource), id) if asked else outputs, inputs)
        public = _public(inputs)
        if inputs or outputs:
            try:
                found = acts.read(id, outputs, public)
            except ProviderError as error:
                if UNANSWERED not in str(error):
                    raise
                # What the account doesn't answer can't drift in it.
                return ReadResult(id, outputs, inputs)
            if found is None:
                return None
            hidden = {key: value for key, value in inputs.items() if key not in public}
            return ReadResult(found[0], found[1], {**found[2], **hidden})
        live = acts.imported(id)
        if live is None:
            raise ProviderError(invokes.absent(session, resource.type, repr(id)))
        return ReadResult(live[0], live[1], {**live[2], DEFAULTS_KEY: sorted(live[2].keys() - {"tags"})})

    def preview_update(
        self, session: Aws, resource: Resource, id: str, olds: Values, news: Values, old_inputs: Values
    ) -> Values:
        """What the provider plans, if the account would not refuse it."""
        acts = self._acting(session, resource, olds)
        if acts is None:
            return records.update(_at(session, news), _schema(resource), olds, _public(news))
        plan = acts.change(id, olds, _public(news))
        # The first request of a change has a part of the inputs, that of a creation has most of them.
        asking.ask(acts, acts.creation(_public(news)))
        asking.ask(acts, plan)
        return acts.planned(plan, _public(news))

    def update(
        self, session: Aws, resource: Resource, id: str, olds: Values, news: Values, old_inputs: Values
    ) -> Values:
        """Make the change."""
        acts = self._acting(session, resource, olds)
        if acts is None:
            return records.update(_at(session, news), _schema(resource), olds, _public(news))
        if self._addon_behind(resource, news):
            self._install(_at(session, news), news)
        try:
            outputs = acts.make(acts.completion(id, olds, _public(news)), _public(news), id)[1]
        except ProviderError as error:
            if UNANSWERED not in str(error):
                raise
            changed = sorted({str(one.path[0]) for one in diff.compare(old_inputs, news)})
            self._note(resource, ", ".join(changed))
            return {**olds, **{name: news[name] for name in changed if name in news}}
        self._made(acts, resource, id, outputs, news, old_inputs)
        return outputs

    def delete(self, session: Aws, resource: Resource, id: str, outputs: Values, old_inputs: Values) -> None:
        """Delete from the account; a record has nothing there."""
        if self._world.notes is not None:
            self._world.notes.clear(resource.urn)
        acts = self._acting(session, resource, outputs)
        if acts is not None and resource.type == CLUSTER:
            _delete_cluster(_at(session, outputs), id)
        elif acts is not None:
            acts.delete(id, outputs)

    def invoke(self, session: Aws, token: str, args: Values) -> Values:
        """Answer a data source."""
        aws = _at(session, args)
        type = self.processes.types.function(token)
        if type is not None:
            try:
                return {**args, **acting.data(self.processes, aws, type, args)}
            except ProviderError as error:
                msg = f"{error}; if the account lacks it, {invokes.HINT}"
                raise ProviderError(msg) from error
        answer = invokes.invoke(aws, token, args)
        if self._world.notes is not None and invokes.recorded_type(token):
            calls = int(self._world.notes.get(token, NoteKind.MADE_UP) or 0) + 1
            self._world.notes.set(Note(token, NoteKind.MADE_UP, str(calls)))
        return answer

    def _acting(self, session: Aws, resource: Resource, outputs: Values | None = None) -> Acting | None:
        """What acts on the account; None for a record."""
        type = None if records.is_one(outputs) else self.processes.types.resource(resource.type)
        return None if type is None else Acting(self.processes, session, type)

    def _made(self, acts: Acting, resource: Resource, id: str, outputs: Values, inputs: Values, before: Values) -> None:
        """What follows from a creation or update: properties that the provider lacks, and notes."""
        names = acts.type.form.lacks(inputs)
        changed = {name: inputs[name] for name in names if inputs[name] != before.get(name)}
        try:
            left = lacking.send(_at(acts.aws, inputs), resource.type, outputs, changed)
        except AwsError as error:
            raise PartialFailureError(id, outputs, [str(error)]) from error
        if changed:
            self._note(resource, ", ".join(left))
        self._note_addon(resource, inputs)

    def _note(self, resource: Resource, what: str) -> None:
        """Note what of a resource exists in the state alone; nothing clears that."""
        if self._world.notes is not None:
            self._world.notes.set(Note(resource.urn, NoteKind.IN_STATE, what))

    def _refused(self, session: Aws, resource: Resource, inputs: Values) -> list[Failure]:
        """What the provider refuses of the inputs, and AWS in a later request than the first one."""
        acts = self._acting(session, resource)
        aws, found = _at(session, inputs), acts.problems(inputs) if acts is not None else []
        said = [*requests.problems(aws, resource.type, "", inputs, planned=True)]
        tags = inputs.get("tags") or {}
        if (row := OPERATIONS.get(resource.type)) and isinstance(tags, Mapping) and "tags" in _schema(resource).inputs:
            # The provider leaves reserved keys out, and tags a bucket after its creation.
            said += [(code(row.service, of), text) for of, text in wrong_tags({"tags": {**aws.default_tags, **tags}})]
        return [*found, *(Failure("", f"{code}: {words}") for code, words in said)]

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

    def _install(self, aws: Aws, inputs: Values) -> None:
        """Install the pods of an add-on whose chart has come: to the provider nothing has changed."""
        names = {"clusterName": inputs["clusterName"], "addonName": inputs["addonName"]}
        given = {"configurationValues": inputs["configurationValues"]} if inputs.get("configurationValues") else {}
        aws.call("eks", "update_addon", **names, **given)
        aws.call("eks", "describe_addon", **names)

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


def _has_files(inputs: Values) -> bool:
    """Whether assets or archives are among the inputs. Their paths begin in the program's folder, so the provider could
    not open them: such an object is a record."""
    return any(wire.content(one) is not None for one in inputs.values())


def _at(session: Aws, values: Mapping[str, Any]) -> Aws:
    """The session in the resource's region; an unknown region counts as the instance's own."""
    region = values.get("region")
    return session.at(None if region == wire.UNKNOWN else region)


def _public(inputs: Values) -> Values:
    """The inputs that the program sets; a name that was generated has its prefix already."""
    prefixes = {f"{name}Prefix" for name in inputs.get(DEFAULTS_KEY) or ()}
    return {key: value for key, value in inputs.items() if not key.startswith("__") and key not in prefixes}


def _settled(config: Values) -> Values:
    """The arguments without those whose change has no effect, such as the plugin's version."""
    return {key: wire.nested(value) for key, value in config.items() if key not in ("version", "pluginDownloadURL")}


def _given_up(aws: Aws, error: PartialFailureError) -> ProviderError:
    """The reason why a control plane did not start, of which nothing is left: EKS starts none again, either."""
    health = aws.call("eks", "describe_cluster", name=error.id)["cluster"].get("health") or {}
    _delete_cluster(aws, error.id)
    reasons = [*error.reasons, *(str(one["message"]) for one in health.get("issues") or ())]
    return ProviderError("; ".join(reasons))


def _delete_cluster(aws: Aws, name: str) -> None:
    """Delete a control plane without the provider, which waits up to a minute before (internal/service/eks/cluster.go,
    `WithDelayRand`)."""
    try:
        aws.call("eks", "delete_cluster", name=name)
        while True:
            aws.call("eks", "describe_cluster", name=name)
            time.sleep(PAUSE_SECONDS)
    except AwsError as error:
        if not error.not_found:
            raise

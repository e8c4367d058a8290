"""Create, read, update and delete for all resource mappings; whatever is specific to a type is in its mapping."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sandbox.aws import drift, outputs, tags
from sandbox.aws.client import FAULT, Aws, AwsError
from sandbox.aws.mapping import ANY, Call, Inputs, Item, ResourceMapping, Setting, find, pick
from sandbox.aws.schema import Schema
from sandbox.aws.shapes import fill
from sandbox.rpc.diff import DEFAULTS_KEY
from sandbox.rpc.errors import PartialFailureError, ProviderError
from sandbox.rpc.hooks import ReadResult

DELETE_ATTEMPTS = 5
DELETE_PAUSE_SECONDS = 0.3
"""A parallel delete may meet a dependency that is just being deleted, so it is retried after a short pause."""


class Lifecycle:
    """One resource mapping in one region of one account."""

    def __init__(self, aws: Aws, schema: Schema, mapping: ResourceMapping) -> None:
        self.aws, self.schema, self.mapping = aws, schema, mapping

    def create(self, inputs: Inputs) -> tuple[str, dict[str, Any]]:
        """Create the object. A failure after it exists is a PartialFailureError with its id."""
        sent = self.sent(inputs)
        id = self.begin(sent)
        with self._partial(id, inputs, {}):
            for setting in self.mapping.settings:
                if setting.at_create and (setting.is_general or set(setting.keys) & set(inputs)):
                    self.apply(setting, id, sent)
            live = self._live(id, {**sent, "id": id})
        return id, outputs.complete(self.aws, self.schema, self.mapping, id, inputs, live or {})

    def read(self, id: str, olds: Inputs, inputs: Inputs) -> ReadResult | None:
        """The live object with its drift; None if it does not exist any more. Without inputs it is an import."""
        names = {**self._parts(id), **inputs, **olds, "id": id}
        item = self._live(id, names)
        if item is None:
            return None
        if not inputs:
            return self._imported(id, names, item)
        drifted = self._drift(inputs, names, item)
        fresh = outputs.complete(self.aws, self.schema, self.mapping, id, {**inputs, **drifted}, item)
        if "tags" in drifted or "tagsAll" in fresh:
            fresh["tagsAll"] = self._tags_all(names, item, fresh.get("tagsAll") or {})
        kept = {key: value for key, value in olds.items() if key not in fresh}
        return ReadResult(id, {**kept, **fresh}, {**inputs, **drifted})

    def update(self, id: str, olds: Inputs, inputs: Inputs, changed: set[str] | None) -> dict[str, Any]:
        """Send the changed inputs; None sends all of them, to complete an earlier partial failure."""
        sent = {**self.mapping.defaults, **self.sent(inputs)}
        names = {**olds, **sent, "id": id}
        done: dict[str, Any] = {}
        with self._partial(id, inputs, olds):
            for setting in self.mapping.settings_for(changed):
                self.apply(setting, id, sent)
            if self.mapping.tags and (changed is None or {"tags", "tagsAll"} & changed):
                tags.change(
                    self.aws, self.mapping, self._names(names), olds.get("tagsAll") or {}, sent.get("tags") or {}
                )
            live = self._live(id, names)
            done = outputs.complete(self.aws, self.schema, self.mapping, id, inputs, live or {})
        return {**{k: v for k, v in olds.items() if k not in self.schema.inputs and k not in done}, **done}

    def delete(self, id: str, olds: Inputs) -> None:
        """Delete the object; no error if it does not exist any more."""
        for attempt in range(1, DELETE_ATTEMPTS + 1):
            try:
                self._delete(id, olds)
            except AwsError as error:
                if error.not_found:
                    return
                if "DependencyViolation" not in error.code or attempt == DELETE_ATTEMPTS:
                    raise
            else:
                return
            time.sleep(DELETE_PAUSE_SECONDS)

    # -- parts ---------------------------------------------------------------------------------------------------------

    def sent(self, inputs: Inputs) -> dict[str, Any]:
        """The inputs that a mapping gets: tags merged with the default tags, without the region."""
        sent = {key: value for key, value in inputs.items() if not key.startswith("__") and key != "region"}
        all_tags = tags.merged(self.aws, inputs) if "tags" in self.schema.inputs else {}
        return {**sent, "tags": all_tags} if all_tags else sent

    def _names(self, values: Inputs) -> dict[str, Any]:
        return {**values, **self.aws.names()}

    def begin(self, sent: Inputs) -> str:
        """Make the create call; returns the ID."""
        if not isinstance(self.mapping.create, Call):
            return self.mapping.create(self.aws, sent)
        parameters = self.create_parameters(self.mapping.create, sent)
        answer = self.aws.call(self.mapping.service, self.mapping.create.operation, **parameters)
        if "{" in self.mapping.id:
            return str(fill(self.mapping.id, self._names(sent)))
        id = pick(self.mapping.id, answer)
        if id is None:
            # EC2 answers a request of several objects with those that it refuses.
            error = pick("Unsuccessful[0].Error", answer) or {"Code": FAULT, "Message": "the answer has no ID"}
            operation = f"{self.mapping.service} {self.mapping.create.operation}"
            raise AwsError(operation, error["Code"], error["Message"])
        return str(id)

    def create_parameters(self, create: Call, sent: Inputs) -> dict[str, Any]:
        """The parameters of the create call."""
        wanted = dict(sent)
        specification = self.mapping.tags.specification if self.mapping.tags else ""
        own_tags = wanted.pop("tags", {}) if specification else {}
        parameters = create.parameters(self.aws, self.mapping.service, wanted, self._names(sent))
        if own_tags:
            pairs = [{"Key": key, "Value": value} for key, value in own_tags.items()]
            ours = {"ResourceType": specification, "Tags": pairs}
            parameters["TagSpecifications"] = [*parameters.get("TagSpecifications", []), ours]
        return parameters

    def apply(self, setting: Setting, id: str, inputs: Inputs) -> None:
        """Send a setting."""
        if isinstance(setting.apply, Call):
            part = inputs if ANY in setting.keys else {k: v for k, v in inputs.items() if k in setting.keys}
            names = self._names({**inputs, "id": id})
            if setting.unset is not None and not any(part.values()):
                setting.unset(self.aws, self.mapping.service, {}, names)
                return
            if not part:
                # The program no longer sets any of them, and AWS keeps what it has.
                return
            setting.apply(self.aws, self.mapping.service, part, names)
        else:
            setting.apply(self.aws, id, inputs)

    def _live(self, id: str, names: Inputs) -> Item | None:
        if isinstance(self.mapping.read, Call):
            return find(self.aws, self.mapping.service, self.mapping.read, self._names(names))
        return self.mapping.read(self.aws, id, names)

    def _delete(self, id: str, olds: Inputs) -> None:
        if isinstance(self.mapping.delete, Call):
            self.mapping.delete(self.aws, self.mapping.service, {}, self._names({**olds, "id": id}))
        elif self.mapping.delete is not None:
            self.mapping.delete(self.aws, id, olds)

    def _parts(self, id: str) -> dict[str, str]:
        """The inputs that the id contains: `cluster:group` for `{clusterName}:{nodeGroupName}`."""
        if "{" not in self.mapping.id:
            return {}
        pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+?)", re.escape(self.mapping.id))
        match = re.fullmatch(pattern, id)
        return match.groupdict() if match else {}

    def _drift(self, inputs: Inputs, names: Inputs, item: Item) -> dict[str, Any]:
        live = outputs.from_item(self.schema, self.mapping, item)
        drifted = {}
        for name in self.mapping.drift:
            wanted = inputs.get(name, self.mapping.defaults.get(name))
            if wanted is None and name not in self.mapping.defaults:
                continue
            kind = self.schema.inputs[name].kind
            if not drift.same(kind, wanted, live.get(name)):
                drifted[name] = drift.drifted(kind, wanted, live.get(name))
        live_tags = tags.live(self.aws, self.mapping, self._names(names), item)
        if live_tags is not None and live_tags != tags.merged(self.aws, inputs):
            own = tags.own(self.aws, inputs.get("tags") or {}, live_tags)
            if own != (inputs.get("tags") or {}):
                drifted["tags"] = own
        return drifted

    def _tags_all(self, names: Inputs, item: Item, otherwise: Mapping[str, str]) -> Mapping[str, str]:
        live_tags = tags.live(self.aws, self.mapping, self._names(names), item)
        return otherwise if live_tags is None else live_tags

    def _imported(self, id: str, names: Inputs, item: Item) -> ReadResult:
        """All live values that the program could have set become inputs, marked as not set by the program."""
        live = outputs.from_item(self.schema, self.mapping, item)
        known = {**{key: value for key, value in names.items() if key in self.schema.inputs}, **live}
        inputs = {key: value for key, value in known.items() if key in self.schema.inputs and key != "tags"}
        defaults = sorted(inputs)
        done = outputs.complete(self.aws, self.schema, self.mapping, id, inputs, item)
        live_tags = tags.live(self.aws, self.mapping, self._names({**names, **done}), item) or {}
        own = tags.own(self.aws, {}, live_tags)
        if own:
            inputs["tags"] = own
            done |= {"tags": own, "tagsAll": live_tags}
        return ReadResult(id, done, {**inputs, DEFAULTS_KEY: defaults})

    @contextmanager
    def _partial(self, id: str, inputs: Inputs, olds: Inputs) -> Iterator[None]:
        """Convert errors into a PartialFailureError: the object exists, so the engine must keep its id."""
        try:
            yield
        except ProviderError as error:
            # What the object has and the program does not say is in the old outputs, if AWS does not answer now.
            live = {**olds, **outputs.from_item(self.schema, self.mapping, self._seen(id, {**olds, **inputs}))}
            known = outputs.finished(self.aws, self.schema, self.mapping, id, inputs, live)
            raise PartialFailureError(id, known, [str(error)]) from error

    def _seen(self, id: str, inputs: Inputs) -> Item:
        try:
            return self._live(id, {**inputs, "id": id}) or {}
        except ProviderError:
            return {}

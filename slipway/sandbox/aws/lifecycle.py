"""Create, read, update and delete for every row. What is particular to a type is in its row."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from slipway.sandbox.aws import drift, outputs, tags
from slipway.sandbox.aws.client import Aws, AwsError
from slipway.sandbox.aws.mapping import ANY, Call, Inputs, Item, ResourceMapping, Setting, fill, find, pick
from slipway.sandbox.aws.schema import Schema
from slipway.sandbox.rpc.diff import DEFAULTS_KEY
from slipway.sandbox.rpc.errors import PartialFailureError, ProviderError
from slipway.sandbox.rpc.hooks import ReadResult

DELETE_ATTEMPTS = 5
DELETE_PAUSE_SECONDS = 0.3
"""Parallel deletes of a stack meet for moments: a dependency that is going is worth waiting for, shortly."""


class Lifecycle:
    """One row in one region of one account."""

    def __init__(self, aws: Aws, schema: Schema, mapping: ResourceMapping) -> None:
        self.aws, self.schema, self.mapping = aws, schema, mapping

    def create(self, inputs: Inputs) -> tuple[str, dict[str, Any]]:
        """Make the object. What fails after it exists is a PartialFailureError that names it."""
        sent = self.sent(inputs)
        if self.mapping.before:
            self.mapping.before(self.aws, "", sent)
        id = self._create(sent)
        with self._partial(id, inputs, {}):
            for setting in self.mapping.settings:
                if setting.at_create and (setting.is_general or set(setting.keys) & set(inputs)):
                    self._apply(setting, id, sent)
            found = self._live(id, {**sent, "id": id})
        return id, outputs.complete(self.aws, self.schema, self.mapping, id, inputs, found or {})

    def read(self, id: str, olds: Inputs, inputs: Inputs) -> ReadResult | None:
        """The live object with its drift, None when it is gone. Without inputs it is an import."""
        names = {**self._parts(id), **inputs, **olds, "id": id}
        item = self._live(id, names)
        if item is None:
            return None
        if not inputs:
            return self._imported(id, names, item)
        moved = self._drift(inputs, names, item)
        fresh = outputs.complete(self.aws, self.schema, self.mapping, id, {**inputs, **moved}, item)
        if "tags" in moved or "tagsAll" in fresh:
            fresh["tagsAll"] = self._tags_all(names, item, fresh.get("tagsAll") or {})
        kept = {key: value for key, value in olds.items() if key not in fresh}
        return ReadResult(id, {**kept, **fresh}, {**inputs, **moved})

    def update(self, id: str, olds: Inputs, inputs: Inputs, changed: set[str] | None) -> dict[str, Any]:
        """Send what changed; None sends everything, to finish what failed half-way."""
        sent = {**self.mapping.defaults, **self.sent(inputs)}
        names = {**olds, **sent, "id": id}
        done: dict[str, Any] = {}
        with self._partial(id, inputs, olds):
            for setting in self.mapping.settings_for(changed):
                self._apply(setting, id, sent)
            if self.mapping.tags and (changed is None or {"tags", "tagsAll"} & changed):
                tags.change(
                    self.aws, self.mapping, self._names(names), olds.get("tagsAll") or {}, sent.get("tags") or {}
                )
            found = self._live(id, names)
            done = outputs.complete(self.aws, self.schema, self.mapping, id, inputs, found or {})
        return {**{k: v for k, v in olds.items() if k not in self.schema.inputs and k not in done}, **done}

    def delete(self, id: str, olds: Inputs) -> None:
        """Remove the object; one that is gone already is removed."""
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
        """The inputs as a row gets them: tags merged with the default ones, without the region."""
        sent = {key: value for key, value in inputs.items() if not key.startswith("__") and key != "region"}
        all_tags = tags.merged(self.aws, inputs) if "tags" in self.schema.inputs else {}
        return {**sent, "tags": all_tags} if all_tags else sent

    def _names(self, values: Inputs) -> dict[str, Any]:
        return {**values, **self.aws.names()}

    def _create(self, sent: Inputs) -> str:
        if not isinstance(self.mapping.create, Call):
            return self.mapping.create(self.aws, sent)
        parameters = self.create_parameters(self.mapping.create, sent)
        answer = self.aws.call(self.mapping.service, self.mapping.create.operation, **parameters)
        if "{" in self.mapping.id:
            return str(fill(self.mapping.id, self._names(sent)))
        return str(pick(self.mapping.id, answer))

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

    def _apply(self, setting: Setting, id: str, inputs: Inputs) -> None:
        if isinstance(setting.apply, Call):
            part = inputs if ANY in setting.keys else {k: v for k, v in inputs.items() if k in setting.keys}
            setting.apply(self.aws, self.mapping.service, part, self._names({**inputs, "id": id}))
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
        """What the id says when nothing else is known: `cluster:group` for `{clusterName}:{nodeGroupName}`."""
        if "{" not in self.mapping.id:
            return {}
        pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+?)", re.escape(self.mapping.id))
        match = re.fullmatch(pattern, id)
        return match.groupdict() if match else {}

    def _drift(self, inputs: Inputs, names: Inputs, item: Item) -> dict[str, Any]:
        found = outputs.from_item(self.schema, self.mapping, item)
        moved = {}
        for name in self.mapping.drift:
            wanted = inputs.get(name, self.mapping.defaults.get(name))
            if wanted is None and name not in self.mapping.defaults:
                continue
            kind = self.schema.inputs[name].kind
            if not drift.same(kind, wanted, found.get(name)):
                moved[name] = drift.drifted(kind, wanted, found.get(name))
        live_tags = tags.live(self.aws, self.mapping, self._names(names), item)
        if live_tags is not None and live_tags != tags.merged(self.aws, inputs):
            own = tags.own(self.aws, inputs.get("tags") or {}, live_tags)
            if own != (inputs.get("tags") or {}):
                moved["tags"] = own
        return moved

    def _tags_all(self, names: Inputs, item: Item, otherwise: Mapping[str, str]) -> Mapping[str, str]:
        live_tags = tags.live(self.aws, self.mapping, self._names(names), item)
        return otherwise if live_tags is None else live_tags

    def _imported(self, id: str, names: Inputs, item: Item) -> ReadResult:
        """Everything AWS says that the program could have set becomes an input, marked as not set by the program."""
        found = outputs.from_item(self.schema, self.mapping, item)
        known = {**{key: value for key, value in names.items() if key in self.schema.inputs}, **found}
        taken = {key: value for key, value in known.items() if key in self.schema.inputs and key != "tags"}
        defaults = sorted(taken)
        done = outputs.complete(self.aws, self.schema, self.mapping, id, taken, item)
        live_tags = tags.live(self.aws, self.mapping, self._names({**names, **done}), item) or {}
        own = tags.own(self.aws, {}, live_tags)
        if own:
            taken["tags"] = own
            done |= {"tags": own, "tagsAll": live_tags}
        return ReadResult(id, done, {**taken, DEFAULTS_KEY: defaults})

    @contextmanager
    def _partial(self, id: str, inputs: Inputs, olds: Inputs) -> Iterator[None]:
        """Errors here leave an object behind: the engine has to know its id."""
        try:
            yield
        except ProviderError as error:
            known = outputs.complete(self.aws, self.schema, self.mapping, id, inputs, self._seen(id, inputs))
            raise PartialFailureError(id, {**olds, **known}, [str(error)]) from error

    def _seen(self, id: str, inputs: Inputs) -> Item:
        try:
            return self._live(id, {**inputs, "id": id}) or {}
        except ProviderError:
            return {}

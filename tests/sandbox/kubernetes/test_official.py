"""Ours judged by pulumi-kubernetes built from its Go module: every type that the API server has, and each field of it.

Both answer the same requests, without an engine.
"""

import json
import subprocess
from collections.abc import Iterator, Mapping
from typing import Any, Final

import grpc
import pytest
from pulumi.runtime.proto import provider_pb2 as pb
from pulumi.runtime.proto import provider_pb2_grpc

from sandbox import toolchain
from sandbox.cluster.pki import kubeconfig
from sandbox.kubernetes.client import KubeClient, ResourceType
from sandbox.kubernetes.inputs import normalized
from sandbox.kubernetes.objects import Ref
from sandbox.rpc import diff, wire
from tests.sandbox.kubernetes.hooks import Hooks
from tests.sandbox.plane import CLUSTER, ControlPlane

pytestmark = pytest.mark.sandbox

Object = dict[str, Any]
REF: Final = "#/definitions/"
SEED: Final = b"it"


class Official:
    """The provider's process behind its protocol."""

    def __init__(self, stub: provider_pb2_grpc.ResourceProviderStub) -> None:
        self._stub = stub

    def check(self, token: str, news: Object, olds: Object | None = None) -> tuple[Object, list[str]]:
        done = self._stub.Check(
            pb.CheckRequest(urn=urn(token), news=wire.encode(news), olds=wire.encode(olds or {}), randomSeed=SEED)
        )
        return wire.decode(done.inputs), [each.reason for each in done.failures]

    def diff(self, token: str, olds: Object, news: Object) -> pb.DiffResponse:
        state = wire.encode({**olds, "__inputs": olds})
        done: pb.DiffResponse = self._stub.Diff(
            pb.DiffRequest(urn=urn(token), id="it", olds=state, old_inputs=wire.encode(olds), news=wire.encode(news))
        )
        return done


def urn(token: str) -> str:
    return f"urn:pulumi:test::slipway::{token}::it"


@pytest.fixture(scope="module")
def official(plane: ControlPlane) -> Iterator[Official]:
    built = toolchain.find("pulumi-kubernetes")
    if built is None:
        pytest.skip("not built: run `python -m sandbox.toolchain ensure pulumi-kubernetes`")
    # It logs to an engine, if one is there.
    with subprocess.Popen([built, "127.0.0.1:1"], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            with grpc.insecure_channel(f"127.0.0.1:{int(process.stdout.readline())}") as channel:
                stub = provider_pb2_grpc.ResourceProviderStub(channel)
                endpoint = plane.pool.get(CLUSTER)
                assert endpoint is not None
                text = json.dumps(kubeconfig({CLUSTER: endpoint}, plane.pki.admin_token))
                stub.Configure(
                    pb.ConfigureRequest(variables={"kubernetes:config:kubeconfig": text}, acceptSecrets=True)
                )
                yield Official(stub)
        finally:
            process.kill()


def types(client: KubeClient) -> Iterator[tuple[str, Any, Object]]:
    """Token, type and schema of all that the API server itself serves and can be changed."""
    found = client.get_path("/openapi/v2")["definitions"]
    by_kind = {
        (f"{of['group']}/{of['version']}".lstrip("/"), of["kind"]): schema
        for schema in found.values()
        for of in schema.get("x-kubernetes-group-version-kind") or ()
    }
    for each in client.discovery.everything():
        schema = by_kind.get((each.api_version, each.kind))
        if schema and "patch" in each.verbs and not Ref(each.api_version, each.kind, "").custom:
            group = each.api_version if "/" in each.api_version else f"core/{each.api_version}"
            yield f"kubernetes:{group}:{each.kind}", each, {**schema, "definitions": found}


class Sample:
    """An object with every field that its schema has; two of different seeds differ in each."""

    def __init__(self, definitions: Mapping[str, Any], seed: int) -> None:
        self._definitions = definitions
        self._seed = seed

    def of(self, schema: Mapping[str, Any], above: tuple[str, ...] = ()) -> Any:
        if name := str(schema.get("$ref", "")).removeprefix(REF):
            if name.endswith(".ObjectMeta"):
                return {"labels": {"a": str(self._seed)}, "annotations": {"a": str(self._seed)}}
            # A schema in a schema.
            return None if name in above else self.of(self._definitions[name], (*above, name))
        if properties := schema.get("properties"):
            found = {key: self.of(each, above) for key, each in properties.items() if not key.startswith(("$", "x-"))}
            return {key: value for key, value in found.items() if value is not None}
        if items := schema.get("items"):
            item = self.of(items, above)
            return [] if item is None else [item]
        if below := schema.get("additionalProperties"):
            value = self.of(below, above)
            return {} if value is None else {"a": value}
        return self._scalar(schema)

    def _scalar(self, schema: Mapping[str, Any]) -> Any:
        kind, form = schema.get("type"), schema.get("format")
        if kind == "string" and form == "byte":
            return ["YQ==", "Yg=="][self._seed - 1]
        if kind == "string":
            return f"2026-01-0{self._seed}T00:00:00Z" if form == "date-time" else str(self._seed)
        return {"integer": self._seed, "number": self._seed, "boolean": True, "object": {"a": self._seed}}.get(
            kind or ""
        )


def judged(official: Official, hooks: Hooks, token: str, olds: Object, news: Object) -> Iterator[str]:
    """What both plan for a change, where they differ."""
    resource = hooks.resource(token, "it")
    theirs = official.diff(token, olds, news)
    ours = hooks.provider.diff(hooks.session, resource, "it", olds, {}, news).message()
    for path in sorted({*theirs.detailedDiff, *ours.detailedDiff}):
        one, other = (found.detailedDiff[path].kind if path in found.detailedDiff else None for found in (theirs, ours))
        if one != other:
            yield f"{token} {path}: official {one}, ours {other}"
    if sorted(theirs.replaces) != sorted(ours.replaces):
        yield f"{token} replaced by: official {sorted(theirs.replaces)}, ours {sorted(ours.replaces)}"
    if theirs.deleteBeforeReplace != ours.deleteBeforeReplace:
        yield f"{token} deleteBeforeReplace: official {theirs.deleteBeforeReplace}, ours {ours.deleteBeforeReplace}"


def placed(each: ResourceType, fields: Object) -> Object:
    """What Check makes of an object of these fields."""
    metadata = {**fields.get("metadata", {}), "name": "it", **({"namespace": "default"} if each.namespaced else {})}
    rest = {key: value for key, value in fields.items() if key != "status"}
    return normalized({**rest, "apiVersion": each.api_version, "kind": each.kind, "metadata": metadata})


def zero(value: Any, kind: type) -> Any:
    """The value with false, 0 or no items in every field of a kind."""
    if isinstance(value, dict):
        return {key: zero(each, kind) for key, each in value.items()}
    if isinstance(value, list):
        return [] if kind is list else [zero(each, kind) for each in value]
    return kind() if type(value) is kind else value


def test_both_plan_the_same_for_every_field_of_every_type(official: Official, hooks: Hooks, client: KubeClient) -> None:
    found: list[str] = []
    for token, each, schema in types(client):
        first, second = (placed(each, Sample(schema["definitions"], seed).of(schema)) for seed in (1, 2))
        least = placed(each, {})
        nowhere = {**first, "metadata": {key: value for key, value in first["metadata"].items() if key != "namespace"}}
        elsewhere = {**first, "metadata": {**first["metadata"], "namespace": "default"}}
        for olds, news in ((first, second), (least, first), (first, least), (elsewhere, nowhere), (nowhere, elsewhere)):
            found += judged(official, hooks, token, olds, news)
    assert found == [], "\n".join(found)


def test_both_keep_the_same_inputs(official: Official, hooks: Hooks, client: KubeClient) -> None:
    found = []
    for token, each, schema in types(client):
        full = placed(each, Sample(schema["definitions"], 1).of(schema))
        for news in (full, *(zero(full, kind) for kind in (bool, int, list))):
            theirs, _ = official.check(token, news)
            ours, _ = hooks.check(token, news)
            for change in diff.compare(theirs, ours):
                found.append(f"{token} {diff.write(change.path)}: {change.kind}")
    assert found == [], "\n".join(found)

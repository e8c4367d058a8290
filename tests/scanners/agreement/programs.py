"""The programs of the table, as the pack and as Checkov read them."""

from collections.abc import Mapping
from typing import Any, Final

from policies import coverage
from policies.resources.access import UNKNOWN
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import AWS_PROVIDER
from policies.rule import ResourceRule
from policies.runner import findings
from policies.suppressions import Suppressions
from slipway.render.recording import UNKNOWN as UNKNOWN_TEXT
from slipway.render.recording import Options, RecordedResource, Recording, Values
from slipway.render.terraform import document
from tests.policies.build import Fixture, FixtureResource
from tests.policies.support import BY_NAME, context

_PROVIDER: Final = {"allowedAccountIds": ["111122223333"]}
_CREDENTIALS: Final = {"accessKey": "access_key", "secretKey": "secret_key"}
"""Arguments of the provider that `slipway report --files` leaves out."""
_UNIQUE: Final = ("Namespace", "ClusterRole", "Role", "ClusterRoleBinding", "RoleBinding")
_TYPES: Final = "resource-type-reviewed/type"


def _urn(name: str, resource: FixtureResource) -> str:
    return f"urn:pulumi:prod::slipway::{resource.type}::{name}"


def _props(resource: FixtureResource) -> dict[str, Any]:
    """Its properties; one that is taken from another resource is not known in a preview."""
    props = {**dict.fromkeys(resource.takes, UNKNOWN), **resource.props}
    if resource.type.startswith("kubernetes:"):
        _, version, kind = resource.type.split(":")
        props = {"apiVersion": version.removeprefix("core/"), "kind": kind, **props}
    return props


def reported(program: Fixture, external_id: str) -> bool:
    """Whether the pack reports an identifier: by a check that covers it, or because it does not know a type."""
    checks = {*coverage.coverage()[external_id].split(", "), _TYPES}
    stack = _stack(program)
    for rule in (BY_NAME[name] for name in sorted({check.partition("/")[0] for check in checks})):
        subjects: list[Any] = list(stack.resources) if isinstance(rule, ResourceRule) else [stack]
        for subject in subjects:
            if any(one.id in checks for one in findings(rule, subject, context(rule), Suppressions())):
                return True
    return False


def _stack(program: Fixture) -> Stack:
    resources = {
        name: Resource(
            type=one.type,
            name=name,
            urn=_urn(name, one),
            read=lambda one=one: _props(one),  # type: ignore[misc]
            protect=True,
            provider=one.provider or _PROVIDER,
        )
        for name, one in program.items()
    }
    for name, one in program.items():
        resources[name].sources.update({key: tuple(resources[other] for other in of) for key, of in one.takes.items()})
    return Stack(tuple(resources.values()))


def is_kubernetes(program: Fixture) -> bool:
    return all(one.type.startswith("kubernetes:") for one in program.values())


def terraform(program: Fixture, prefix: str) -> dict[str, Any]:
    """The program's AWS resources as Terraform.

    Args:
        program: The program.
        prefix: Of the names of all resources: Checkov looks up some of them in all documents of a run.
    """
    resources = {
        _urn(name, one): RecordedResource(
            urn=_urn(name, one),
            type=one.type,
            name=f"{prefix}-{name}",
            parent=None,
            custom=True,
            inputs=Values(_marked(_props(one))),
            options=Options(
                property_dependencies={
                    key: tuple(_urn(other, program[other]) for other in of) for key, of in one.takes.items()
                }
            ),
        )
        for name, one in program.items()
    }
    written = document(Recording(project="slipway", stack="prod", resources=resources, exports=Values({})))
    providers = [one.props for one in program.values() if one.type == AWS_PROVIDER]
    keys = [{name: props[key] for key, name in _CREDENTIALS.items() if key in props} for props in providers]
    return {**written, "provider": {"aws": [{"region": "us-east-1", **one} for one in keys]}}


def manifests(program: Fixture, prefix: str) -> list[Mapping[str, Any]]:
    """The program's Kubernetes objects; the names of namespaces and roles begin with a prefix as in `terraform`."""
    objects = [_props(one) for one in program.values()]
    unique = {one["metadata"].get("namespace") for one in objects} - {None, "default"}
    unique |= {one["metadata"]["name"] for one in objects if one["kind"] in _UNIQUE}
    return [_renamed(one, {name: f"{prefix}-{name}" for name in unique}) for one in objects]


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_renamed(item, names) for item in value]
    if isinstance(value, Mapping):
        return {key: _renamed(item, names) for key, item in value.items()}
    return names.get(value, value) if isinstance(value, str) else value


def _marked(value: Any) -> Any:
    if value is UNKNOWN:
        return UNKNOWN_TEXT
    if isinstance(value, Mapping):
        return {key: _marked(item) for key, item in value.items()}
    return [_marked(item) for item in value] if isinstance(value, list) else value

"""Reads the options of a registration, including those inherited from the parent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pulumi.runtime.proto import alias_pb2, resource_pb2

from slipway.render.recording import PROVIDER_PREFIX, Options
from slipway.render.urns import resource_type


def options_of(request: resource_pb2.RegisterResourceRequest, parent: Options) -> Options:
    """Options of a registration with a parent.

    `protect`, `retainOnDelete` and `deletedWith` are inherited; so is the provider, if it has the resource's
    package (pulumi v3.258.0, pkg/resource/deploy/source_eval.go, inheritFromParent).
    """
    timeouts = {field.name: text for field, text in request.customTimeouts.ListFields()}
    by_property = {key: _sorted(one.urns) for key, one in sorted(request.propertyDependencies.items())}
    return Options(
        protect=request.protect if request.HasField("protect") else parent.protect,
        retain_on_delete=request.retainOnDelete if request.HasField("retainOnDelete") else parent.retain_on_delete,
        delete_before_replace=request.deleteBeforeReplace if request.deleteBeforeReplaceDefined else None,
        provider=_provider(request, parent),
        deleted_with=request.deletedWith or parent.deleted_with,
        dependencies=_sorted(request.dependencies),
        property_dependencies={key: urns for key, urns in by_property.items() if urns},
        ignore_changes=_sorted(request.ignoreChanges),
        replace_on_changes=_sorted(request.replaceOnChanges),
        additional_secret_outputs=_sorted(request.additionalSecretOutputs),
        aliases=tuple(_alias(alias) for alias in request.aliases),
        custom_timeouts=timeouts,
    )


def _provider(request: resource_pb2.RegisterResourceRequest, parent: Options) -> str | None:
    if not request.custom or request.type.startswith(PROVIDER_PREFIX):
        return None
    explicit = request.provider.rpartition("::")[0] or None
    if explicit is None and parent.provider is not None:
        package = request.type.partition(":")[0]
        return parent.provider if resource_type(parent.provider) == PROVIDER_PREFIX + package else None
    return explicit


def _alias(alias: alias_pb2.Alias) -> str | dict[str, Any]:
    if alias.WhichOneof("alias") == "urn":
        return alias.urn
    return {field.name: value for field, value in alias.spec.ListFields() if value}


def _sorted(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(texts)))

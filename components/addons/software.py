"""All add-ons of a stack on its cluster: namespaces, then each add-on after those that it needs.

Definitions come first, before nodes and before all that uses their kinds: an add-on with a monitor of its own waits for
the kind of monitors, and not for Prometheus.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
import pulumi_aws as aws

from components.addons import demand, order, registry
from components.base.addon import AddOn, AddOnContext, ChartRelease, Parts
from components.base.iam import pod_identity_role
from components.base.kubernetes import declare
from components.base.namespaces import Namespaces, NamespacesArgs
from components.base.release import release
from spec.settings.addons import AddonSettings


@dataclass(frozen=True, kw_only=True)
class SoftwareArgs:
    """Inputs of an add-on.

    Attributes:
        addon: What to install.
        context: Where.
        after: What must stand before it: every part of the add-ons that it requires, and the definitions of those that
            it follows.
        space: Its namespace, where that is ours.
    """

    addon: AddOn[Any]
    context: AddOnContext
    after: Sequence[pulumi.Resource]
    space: Sequence[pulumi.Resource] = ()


class Software(pulumi.ComponentResource):
    """One add-on as resources. Everything inside the cluster is `deleted_with` it."""

    PULUMI_TYPE: Final = "slipway:addons:Software"

    ready: tuple[pulumi.Resource, ...]
    """What must stand for others to use the add-on: releases, which bring CRDs and webhooks, and its own objects."""
    defined: tuple[pulumi.Resource, ...]
    """What must stand for others to use its kinds: as `ready`, where it has no release of definitions."""

    def __init__(self, name: str, args: SoftwareArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        parts = args.addon.parts(args.context)
        place = [*args.context.cluster.access, *args.space]
        permissions = self._make_permissions(name, args, parts)
        configs = self._make_objects(name, args, parts.before, place)
        kinds = [self._release(name, args, chart, place) for chart in parts.releases if chart.definitions]
        before = [*place, *args.after, *args.context.system_node_groups, *permissions, *configs, *kinds]
        releases = [*kinds, *self._make_releases(name, args, parts, before)]
        last = releases or [*place, *permissions, *configs]
        objects = self._make_objects(name, args, parts.objects, [*args.after, *last])
        self.ready = (*releases, *objects) or (*configs, *permissions)
        self.defined = tuple(kinds) or self.ready
        self.register_outputs({})

    def _make_permissions(self, name: str, args: SoftwareArgs, parts: Parts) -> list[pulumi.Resource]:
        cluster, namespace = args.context.cluster, args.addon.namespace.name
        made: list[pulumi.Resource] = []
        for permissions in parts.permissions:
            account = permissions.service_account
            key = permissions.role or role_name(name, account)
            role = pod_identity_role(
                key,
                cluster_arn=cluster.arn,
                namespace=namespace,
                service_account=account,
                policy=permissions.policy,
                parent=self,
            )
            association = aws.eks.PodIdentityAssociation(
                f"{key}-association",
                cluster_name=cluster.resource.name,
                namespace=namespace,
                service_account=account,
                role_arn=role.arn,
                opts=pulumi.ResourceOptions(parent=self),
            )
            made += [*role.ready, association]
        return made

    def _make_releases(
        self, name: str, args: SoftwareArgs, parts: Parts, before: Sequence[pulumi.Resource]
    ) -> list[pulumi.Resource]:
        made: list[pulumi.Resource] = []
        for chart in parts.releases:
            if not chart.definitions:
                stores = args.context.storage.block if chart.volumes else ()
                made.append(self._release(name, args, chart, [*before, *stores, *made[-1:]]))
        return made

    def _release(
        self, name: str, args: SoftwareArgs, chart: ChartRelease, before: Sequence[pulumi.Resource]
    ) -> pulumi.Resource:
        opts = pulumi.ResourceOptions(parent=self, depends_on=list(before), deleted_with=args.context.cluster.resource)
        return release(
            logical_name(name, chart.release_name),
            chart.ref,
            release_name=chart.release_name,
            namespace=args.addon.namespace.name,
            values=chart.values,
            skip_crds=chart.skip_crds,
            opts=opts,
        )

    def _make_objects(
        self,
        name: str,
        args: SoftwareArgs,
        manifests: Mapping[str, Mapping[str, Any]],
        before: Sequence[pulumi.Resource],
    ) -> list[pulumi.Resource]:
        cluster = args.context.cluster.resource
        opts = pulumi.ResourceOptions(parent=self, depends_on=list(before), deleted_with=cluster)
        return [declare(f"{name}-{key}", manifest, opts) for key, manifest in sorted(manifests.items())]


def logical_name(addon: str, release_name: str) -> str:
    """Logical name of a release: that of Helm, with the add-on's before it where it does not begin so already."""
    if release_name == addon:
        return f"{addon}-release"
    return release_name if release_name.startswith(f"{addon}-") else f"{addon}-{release_name}"


def role_name(addon: str, account: str) -> str:
    """Logical name of the role of a service account: short, because names of roles are, and never the add-on's own."""
    if account == addon:
        return f"{addon}-pod"
    return account if account.startswith(f"{addon}-") else f"{addon}-{account}"


@dataclass(frozen=True, kw_only=True)
class Installed:
    """The add-ons of a stack.

    Attributes:
        ready: What must stand for others to use an add-on, by its settings class.
    """

    ready: Mapping[type[AddonSettings], tuple[pulumi.Resource, ...]]

    def of(self, kind: type[AddonSettings]) -> tuple[pulumi.Resource, ...]:
        """What to wait for before using an add-on; nothing where it is off."""
        return self.ready.get(kind, ())


def install(context: AddOnContext, opts: pulumi.ResourceOptions) -> Installed:
    """Make the namespaces and all add-ons that the stack names; warn where the system pools have no room for them.

    Raises:
        ValueError: For add-ons that can't stand together, or namespaces on which two do not agree.
    """
    addons = registry.wanted(context.platform.addons)
    if (text := demand.shortage(addons.values(), context)) is not None:
        pulumi.log.warn(text)
    kinds = {name: type(addon.settings) for name, addon in addons.items()}
    earlier = order.before(kinds)
    spaces = Namespaces("namespaces", NamespacesArgs(addons=addons, cluster=context.cluster), opts)
    made: dict[str, Software] = {}
    for name in order.sequence(kinds):
        addon = addons[name]
        required = kinds[name].requires
        after = [
            part
            for other in earlier[name]
            for part in (made[other].ready if kinds[other] in required else made[other].defined)
        ]
        args = SoftwareArgs(addon=addon, context=context, after=after, space=spaces.of(addon.namespace.name))
        made[name] = Software(name, args, opts)
    return Installed(ready={kinds[name]: software.ready for name, software in made.items()})

"""Installs the add-ons of a stack on its cluster: namespaces, then each add-on after those that it needs.

CRDs come first, before nodes and before everything that uses them: an add-on with a ServiceMonitor depends on the CRD
of ServiceMonitors, not on Prometheus.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi

from components.addons import demand, images, registry
from components.base.addon import AddOn, AddOnContext, ChartRelease, Parts
from components.base.iam import pod_identity_role
from components.base.kubernetes import Namespaces, ObjectsArgs, agreed, declare, locate, manifest, release
from spec.settings.addons import AddonSettings


@dataclass(frozen=True, kw_only=True)
class InstalledAddOnArgs:
    """Inputs of `InstalledAddOn`.

    Attributes:
        addon: The add-on to install.
        context: The platform that it is installed on.
        after: Dependencies: every part of the add-ons that it requires, and the CRDs of those that it follows.
        space: Its namespace, if the platform creates it.
    """

    addon: AddOn[Any]
    context: AddOnContext
    after: Sequence[pulumi.Resource]
    space: Sequence[pulumi.Resource] = ()


class InstalledAddOn(pulumi.ComponentResource):
    """The resources of one add-on. Everything in the cluster is `deleted_with` the cluster."""

    PULUMI_TYPE: Final = "slipway:addons:Software"

    ready: tuple[pulumi.Resource, ...]
    """Dependencies of users of the add-on: releases, which install CRDs and webhooks, and its own objects."""
    crds_ready: tuple[pulumi.Resource, ...]
    """Dependencies of users of its CRDs; the same as `ready` if it has no release with CRDs only."""

    def __init__(self, name: str, args: InstalledAddOnArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        parts = args.addon.parts(args.context)
        place = [*args.context.cluster.access, *args.space]
        permissions = self._make_permissions(name, args, parts)
        configs = self._make_objects(name, args, parts.before, place)
        kinds = [self._release(name, args, chart, place) for chart in parts.releases if chart.crds_only]
        before = [*place, *args.after, *args.context.system_node_groups, *permissions, *configs, *kinds]
        releases = [*kinds, *self._make_releases(name, args, parts, before)]
        last = releases or [*place, *permissions, *configs]
        stores = args.context.storage.block if parts.volumes else ()
        objects = self._make_objects(name, args, parts.objects, [*args.after, *last, *stores])
        self.ready = (*releases, *objects) or (*configs, *permissions)
        self.crds_ready = tuple(kinds) or self.ready
        self.register_outputs({})

    def _make_permissions(self, name: str, args: InstalledAddOnArgs, parts: Parts) -> list[pulumi.Resource]:
        cluster, namespace = args.context.cluster, args.addon.namespace.name
        granted: list[pulumi.Resource] = []
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
                association=(f"{key}-association", cluster.known_as),
            )
            granted += role.ready
        return granted

    def _make_releases(
        self, name: str, args: InstalledAddOnArgs, parts: Parts, before: Sequence[pulumi.Resource]
    ) -> list[pulumi.Resource]:
        releases: list[pulumi.Resource] = []
        for chart in parts.releases:
            if not chart.crds_only:
                stores = args.context.storage.block if chart.volumes else ()
                earlier = () if chart.independent else releases[-1:]
                releases.append(self._release(name, args, chart, [*before, *stores, *earlier]))
        return releases

    def _release(
        self, name: str, args: InstalledAddOnArgs, chart: ChartRelease, before: Sequence[pulumi.Resource]
    ) -> pulumi.Resource:
        opts = pulumi.ResourceOptions(parent=self, depends_on=list(before), deleted_with=args.context.cluster.resource)
        return release(
            logical_name(name, chart.release_name),
            locate(chart.ref, args.context.charts),
            release_name=chart.release_name,
            namespace=args.addon.namespace.name,
            values=images.chart_values(chart.ref, chart.values, images.through(args.context)),
            skip_crds=chart.skip_crds,
            opts=opts,
        )

    def _make_objects(
        self,
        name: str,
        args: InstalledAddOnArgs,
        manifests: Mapping[str, Mapping[str, Any]],
        before: Sequence[pulumi.Resource],
    ) -> list[pulumi.Resource]:
        cluster = args.context.cluster.resource
        opts = pulumi.ResourceOptions(parent=self, depends_on=list(before), deleted_with=cluster)
        through = images.through(args.context)
        return [
            declare(f"{name}-{key}", images.in_manifest(manifest, through), opts)
            for key, manifest in sorted(manifests.items())
        ]


def logical_name(addon: str, release_name: str) -> str:
    """Logical name of a release: the Helm release's name, prefixed with the add-on's name unless it already is."""
    if release_name == addon:
        return f"{addon}-release"
    return release_name if release_name.startswith(f"{addon}-") else f"{addon}-{release_name}"


def role_name(addon: str, account: str) -> str:
    """Logical name of the role of a service account: short, because IAM limits role names, and never the add-on's
    name."""
    if account == addon:
        return f"{addon}-pod"
    return account if account.startswith(f"{addon}-") else f"{addon}-{account}"


@dataclass(frozen=True, kw_only=True)
class InstalledAddOns:
    """The installed add-ons of a stack."""

    ready: Mapping[type[AddonSettings], tuple[pulumi.Resource, ...]]
    """Dependencies of users of an add-on, by its settings class."""

    def of(self, kind: type[AddonSettings]) -> tuple[pulumi.Resource, ...]:
        """Dependencies of a user of an add-on; empty if the add-on isn't enabled."""
        return self.ready.get(kind, ())


def install(context: AddOnContext, opts: pulumi.ResourceOptions) -> InstalledAddOns:
    """Install all enabled add-ons and their namespaces; warn if the system pools are too small for them.

    Raises:
        ValueError: For add-ons that exclude each other or lack a requirement, or that disagree on a shared namespace.
    """
    addons = registry.wanted(context.addons, context.installed)
    if (text := demand.shortage(addons.values(), context)) is not None:
        pulumi.log.warn(text)
    kinds = {name: type(addon.settings) for name, addon in registry.wanted(context.addons).items()}
    earlier = registry.before(kinds)
    spaces = agreed(addon.namespace for addon in addons.values())
    made = ObjectsArgs(objects={key: manifest(space) for key, space in spaces.items()}, cluster=context.cluster)
    namespaces = Namespaces("namespaces", made, opts)
    installed: dict[str, InstalledAddOn] = {}
    for name in registry.sequence(kinds):
        if (addon := addons.get(name)) is None:
            continue
        required = kinds[name].requires
        after = [
            part
            for other in earlier[name]
            if other in installed
            for part in (installed[other].ready if kinds[other] in required else installed[other].crds_ready)
        ]
        args = InstalledAddOnArgs(addon=addon, context=context, after=after, space=namespaces.of(addon.namespace.name))
        installed[name] = InstalledAddOn(name, args, opts)
    return InstalledAddOns(ready={kinds[name]: addon.ready for name, addon in installed.items()})

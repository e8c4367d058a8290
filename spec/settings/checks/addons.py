"""Checks of add-ons: against each other, of the source of their charts, of batch and of serving."""

from collections.abc import Iterator, Mapping
from typing import Final, get_args

from spec.catalog import kubernetes
from spec.quantities import seconds
from spec.settings.addons import Addons, AddonSettings
from spec.settings.addons.observability import KubePrometheusStack
from spec.settings.addons.serving import NEEDED_BY_INGRESS, Knative
from spec.settings.charts import Charts
from spec.settings.checks.base import Context
from spec.settings.cluster import Cluster
from spec.settings.environment import Account
from spec.settings.problems import Problem
from spec.settings.teams import Team

SHORTEST_WINDOW: Final = 120
LONGEST_WINDOW: Final = 3600
"""Seconds over which requests of a canary are counted; Prometheus reads a counter every 30 s by default."""


def key_of(kind: type[AddonSettings]) -> str:
    """Key of an add-on in a stack file."""
    for field in Addons.model_fields.values():
        if kind in (field.annotation, *get_args(field.annotation)):
            return str(field.alias)
    msg = f"{kind.__name__} is not a field of Addons"
    raise LookupError(msg)


def relations(_context: Context, addons: Addons) -> Iterator[Problem]:
    """Add-ons that another requires are installed, and add-ons that exclude each other are not."""
    for key, settings in addons.wanted():
        for other in settings.requires:
            if not addons.has(other):
                need = key_of(other)
                rule = f"{key} needs {need}"
                yield Problem(f"addons.{key}", rule, None, f"Add `{need}: {{}}` to addons, or remove {key}.")
        for other in settings.excludes:
            if addons.has(other):
                rule = f"{key} and {key_of(other)} exclude each other"
                yield Problem(f"addons.{key}", rule, key_of(other), "Keep one of the two.")


def kinds_named(_context: Context, addons: Addons) -> Iterator[Problem]:
    """The training operator serves at least one kind: with none named, it requires the CRDs of all."""
    operator = addons.training_operator
    if operator is not None and not operator.kinds:
        yield Problem(
            "addons.trainingOperator.kinds",
            "the training operator serves at least one kind",
            [],
            "Name one, like PyTorchJob, or remove trainingOperator.",
        )


def multi_kueue_used(context: Context, addons: Addons) -> Iterator[Problem]:
    """A timeout that only a manager applies is set only on a manager."""
    kueue = addons.kueue
    if kueue is None or kueue.multi_kueue == "manager":
        return
    if "workerLostTimeoutMinutes" in context.own_keys("addons", "kueue"):
        yield Problem(
            "addons.kueue.workerLostTimeoutMinutes",
            "this timeout applies only to a MultiKueue manager",
            kueue.worker_lost_timeout_minutes,
            "Remove it, or set `multiKueue: manager`.",
        )


def models_reachable(_context: Context, addons: Addons) -> Iterator[Problem]:
    """The add-ons of the chosen ingress and deployment mode are installed."""
    settings = addons.kserve
    if settings is None:
        return
    needed = NEEDED_BY_INGRESS.get(settings.ingress)
    if needed is not None and not addons.has(needed):
        need = key_of(needed)
        yield Problem(
            "addons.kserve.ingress",
            f"ingress {settings.ingress} needs {need}",
            settings.ingress,
            f"Add `{need}: {{}}` to addons, or set `ingress: none` to serve only inside the cluster.",
        )
    if settings.default_deployment_mode == "Knative" and not addons.has(Knative):
        yield Problem(
            "addons.kserve.defaultDeploymentMode",
            "the deployment mode Knative needs knative",
            settings.default_deployment_mode,
            "Add `knative: {}` to addons, or set `defaultDeploymentMode: Standard`.",
        )


def canaries_measured(_context: Context, addons: Addons) -> Iterator[Problem]:
    """Somebody counts the requests of canaries, and a window has several of its looks."""
    settings = addons.kserve.canary_rollback if addons.kserve else None
    if settings is None:
        return
    path = "addons.kserve.canaryRollback"
    if not addons.has(KubePrometheusStack):
        fix = "Add `kubePrometheusStack: {}` to addons, or remove canaryRollback."
        yield Problem(path, "needs kubePrometheusStack, which counts the requests", None, fix)
    if not SHORTEST_WINDOW <= seconds(settings.window) <= LONGEST_WINDOW:
        rule = "must be from 2m, in which a counter is read four times, to 1h"
        yield Problem(f"{path}.window", rule, settings.window, "Use 5m.")


def hosts_own(_context: Context, teams: Mapping[str, Team], addons: Addons) -> Iterator[Problem]:
    """No team can name a model so that it has the address of another team's model.

    Its address is NAME-NAMESPACE.DOMAIN (chart kserve-resources v0.20.0, `domainTemplate`), and a certificate for
    *.DOMAIN covers no dot within it: model `m-a` in namespace `b` has the address of model `m` in namespace `a-b`.
    """
    if addons.kserve is None or addons.kserve.ingress == "none":
        return
    owners = {namespace: team for team, settings in teams.items() for namespace in settings.namespaces_of(team)}
    for namespace, team in owners.items():
        for other, owner in owners.items():
            if owner != team and namespace.endswith(f"-{other}"):
                rule = f"models of team {owner} could take addresses of models there, because it ends in -{other}"
                yield Problem(f"teams.{team}", rule, namespace, "Choose another name for one of the two namespaces.")


def pipelines_owned(_context: Context, teams: Mapping[str, Team], addons: Addons) -> Iterator[Problem]:
    """A server of pipelines is for a namespace of a team, and a namespace has one."""
    owned = [namespace for team, settings in teams.items() for namespace in settings.namespaces_of(team)]
    for index, namespace in enumerate(addons.pipelined):
        path = "addons.kubeflowPipelines.namespaces"
        if namespace not in owned:
            rule = "its runs need the quota of a team, so it must be a namespace of one"
            yield Problem(path, rule, namespace, f"Use one of {', '.join(sorted(owned)) or 'no team'}.")
        elif namespace in addons.pipelined[:index]:
            yield Problem(path, "a namespace has one server of pipelines", namespace, "Name it once.")


def https_served(_context: Context, addons: Addons, account: Account) -> Iterator[Problem]:
    """Addresses that begin with https have a listener with a certificate, and a certificate has a listener."""
    settings = addons.kserve
    if settings is None:
        return
    path, arns = "addons.kserve.certificateArn", settings.certificate_arn
    if settings.https and settings.ingress == "none":
        rule = "without an ingress nothing serves HTTPS, but addresses of models would begin with https"
        yield Problem("addons.kserve.https", rule, True, "Remove https, or set `ingress: alb`.")
    elif settings.https and settings.default_deployment_mode == "Knative":
        rule = "Kourier, the gateway of Knative, has no certificate, but addresses of models would begin with https"
        yield Problem("addons.kserve.https", rule, True, "Remove https, or set `defaultDeploymentMode: Standard`.")
    elif settings.https and not arns:
        rule = "without a certificate the load balancer has no HTTPS listener"
        fix = f"Request one for *.{settings.ingress_domain} in ACM, and set its ARN."
        yield Problem(path, rule, [], fix)
    elif arns and not settings.https:
        yield Problem(path, "a certificate is used only with https", list(arns), "Add `https: true`, or remove it.")
    for arn in arns:
        # RAM shares no certificates of ACM (AWS RAM User Guide, "Shareable AWS resources").
        if f":{account.region}:{account.id}:" not in arn:
            rule = "a load balancer uses certificates of its own Region and account"
            yield Problem(path, rule, arn, f"Request one in {account.region} of account {account.id}.")


def one_source(_context: Context, charts: Charts) -> Iterator[Problem]:
    """Charts come from one place."""
    if charts.directory is not None and charts.registry is not None:
        value = {"directory": charts.directory, "registry": charts.registry}
        yield Problem("charts", "charts come from a directory or from a registry", value, "Remove one of the two.")


IMAGES_SINCE: Final = 35
"""First minor version of Kubernetes 1 whose kubelet mounts images by default (kubernetes.io, "Use an Image Volume With
a Pod"; read 2026-11)."""


def images_loaded(context: Context, addons: Addons, cluster: Cluster) -> Iterator[Problem]:
    """The pools exist whose nodes load images, and their kubelet can."""
    if addons.image_preload is None:
        return
    known = context.named("pools")
    for pool in sorted(set(addons.image_preload.pools) - set(known)):
        path = f"addons.imagePreload.pools.{pool}"
        yield Problem(path, "the pool must exist", pool, f"Use {', '.join(sorted(known))}.")
    for pool, images in addons.image_preload.pools.items():
        for image in images:
            if image.endswith(":latest"):
                rule = "latest is another image tomorrow, which nodes that have today's do not load"
                yield Problem(f"addons.imagePreload.pools.{pool}", rule, image, "Use a tag of a version, or a digest.")
    minor = kubernetes.minor(cluster.version)
    if minor is not None and minor < IMAGES_SINCE:
        rule = f"imagePreload needs Kubernetes 1.{IMAGES_SINCE}, whose kubelet mounts images"
        fix = f'Set `cluster.version: "1.{IMAGES_SINCE}"`, or remove imagePreload.'
        yield Problem("addons.imagePreload", rule, cluster.version, fix)

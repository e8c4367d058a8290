"""Checks of model serving: add-ons that an ingress and a deployment mode need, and HTTPS."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from spec.settings.addons import Addons
from spec.settings.addons.serving import NEEDED_BY_INGRESS, Knative
from spec.settings.checks.addons import key_of
from spec.settings.checks.base import Context
from spec.settings.environment import Account
from spec.settings.problems import Problem
from spec.settings.teams import Team


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
        region = arn.split(":")[3]
        if region != account.region:
            rule = "a load balancer uses certificates of its own Region"
            yield Problem(path, rule, arn, f"Request one in {account.region}.")

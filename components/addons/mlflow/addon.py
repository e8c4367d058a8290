"""MLflow as an add-on: for each team a Helm release, with permissions of its own."""

from collections.abc import Mapping
from typing import Any

import pulumi

from components.addons.mlflow.values import NAME, TeamServer, before, budget, ingress, values
from components.base.addon import AddOn, AddOnContext, AddOnFacts, ChartRelease, Parts, Permissions
from components.base.iam import Inline, Statement, document
from components.base.outputs import ClusterOutputs
from components.base.placement import keeps_one
from components.storage.key import data_key_use_on, secret_key_use_on
from spec.catalog.software import CHARTS
from spec.settings.addons.tracking import Mlflow as Settings
from spec.teams import tracking


class Mlflow(AddOn[Settings]):
    """A tracking server for each team, with databases on one instance and the buckets of `components.storage`."""

    name = NAME
    software = CHARTS["mlflow"]

    def boundaries(self, facts: AddOnFacts) -> Mapping[str, Mapping[str, Any]]:
        """Which team reaches which server."""
        return ingress(self.namespace.name, sorted(facts.teams))

    def parts(self, context: AddOnContext) -> Parts:
        """A release for each team, with permissions for the secret and for reading the team's prefix."""
        teams, namespace = sorted(context.teams), self.namespace.name
        budgets = {f"budget-{team}": budget(namespace, team) for team in teams} if keeps_one(self._replicas) else {}
        return Parts(
            permissions=[
                Permissions(service_account=tracking.server(team), policy=Inline(document=self._policy(context, team)))
                for team in teams
            ],
            before={**before(namespace), **self.boundaries(context)},
            releases=[
                ChartRelease(
                    ref=self.software,
                    release_name=tracking.server(team),
                    values=self._values(context, team),
                    independent=True,
                )
                for team in teams
            ],
            objects=budgets,
        )

    @property
    def _replicas(self) -> int:
        return self.settings.replicas

    def _policy(self, context: AddOnContext, team: str) -> pulumi.Output[str]:
        database, bucket = context.storage.databases[NAME], context.storage.buckets["models"]
        known = pulumi.Output.all(secret_arn=database.secret_arn, bucket_arn=bucket.arn)
        return known.apply(lambda arns: policy(context.cluster, team, **arns))

    def _values(self, context: AddOnContext, team: str) -> Mapping[str, Any]:
        server = TeamServer(
            team=team,
            replicas=self._replicas,
            region=context.cluster.region,
            database=context.storage.databases[NAME],
            bucket=context.storage.buckets["models"].name,
        )
        return values(server, context.placement)


def policy(cluster: ClusterOutputs, team: str, *, secret_arn: str, bucket_arn: str) -> str:
    """Permissions of a team's server: to read the secret, and to show the team's files. Clients write them with the
    team's own permissions."""
    place = tracking.prefix(team)
    return document(
        Statement("Password", ["secretsmanager:GetSecretValue"], [secret_arn]),
        secret_key_use_on(cluster),
        Statement(
            "FindFiles",
            ["s3:ListBucket"],
            [bucket_arn],
            conditions={"StringLike": {"s3:prefix": [place, f"{place}/*"]}},
        ),
        Statement("Files", ["s3:GetObject"], [f"{bucket_arn}/{place}/*"]),
        data_key_use_on(cluster),
    )

"""MLflow as an add-on: its permissions and its Helm release."""

from __future__ import annotations

from typing import ClassVar

import pulumi

from components.addons.mlflow.values import ARTIFACTS, NAME, before, budget, values
from components.base.addon import AddOn, AddOnContext, ChartRelease, Namespace, Parts, Permissions
from components.base.iam import Inline, Statement, document
from components.base.outputs import ClusterOutputs
from components.base.placement import system_placement
from components.base.sizing import keeps_one
from components.storage.permissions import data_key_use_on, secret_key_use_on
from spec.catalog.charts import MLFLOW
from spec.settings.addons.tracking import Mlflow as Settings


class Mlflow(AddOn[Settings]):
    """The tracking server, with its database and bucket from `components.storage`."""

    name: ClassVar[str] = NAME
    namespace: ClassVar[Namespace] = Namespace(name=NAME, enforce="restricted")

    def parts(self, context: AddOnContext) -> Parts:
        """One release, with permissions for one secret and one prefix."""
        database, bucket = context.storage.databases[NAME], context.storage.buckets["models"]
        known = pulumi.Output.all(secret_arn=database.secret_arn, bucket_arn=bucket.arn)
        permissions = Inline(document=known.apply(lambda arns: policy(context.cluster, **arns)))
        chart_values = values(
            replicas=self.settings.replicas,
            region=context.cluster.region,
            database=database,
            bucket=bucket.name,
            placement=system_placement(context),
        )
        namespace = self.namespace.name
        return Parts(
            permissions=[Permissions(service_account=NAME, policy=permissions)],
            before=before(namespace),
            releases=[ChartRelease(ref=MLFLOW, release_name=NAME, values=chart_values)],
            objects={"budget": budget(namespace)} if keeps_one(self.settings.replicas) else {},
        )


def policy(cluster: ClusterOutputs, *, secret_arn: str, bucket_arn: str) -> str:
    """Permissions to read its secret, and to read and write its prefix."""
    return document(
        Statement(sid="Password", actions=["secretsmanager:GetSecretValue"], resources=[secret_arn]),
        secret_key_use_on(cluster),
        Statement(
            sid="FindFiles",
            actions=["s3:ListBucket"],
            resources=[bucket_arn],
            conditions={"StringLike": {"s3:prefix": [ARTIFACTS, f"{ARTIFACTS}/*"]}},
        ),
        Statement(
            sid="Files",
            actions=["s3:AbortMultipartUpload", "s3:DeleteObject", "s3:GetObject", "s3:PutObject"],
            resources=[f"{bucket_arn}/{ARTIFACTS}/*"],
        ),
        data_key_use_on(cluster),
    )

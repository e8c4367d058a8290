"""A database of an add-on, PostgreSQL or MySQL. The program never sees its password.

Its identifier is fixed, `<cluster>-<database>`, because RDS derives the names of log groups from it: the program
creates these first, because RDS would create them without retention and without a key.

RDS generates the password, stores it in Secrets Manager with the platform's key, and rotates it every seven days (RDS
User Guide, "Password management with Amazon RDS and AWS Secrets Manager"; read 2026-11). The add-on's permissions
define who can read the secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_aws as aws

from components.base.iam import Managed, role_with, service_trust
from components.base.outputs import ClusterOutputs, DatabaseOutputs, NetworkOutputs
from components.storage.firewall import INGRESS, allow, make_group
from spec.settings import storage as settings
from spec.settings.storage import EngineName

USER: Final = "slipway"  # the master user, the only one of the instance
SLOW_MS: Final = 1000  # minimum duration of a logged statement, in milliseconds


@dataclass(frozen=True, kw_only=True)
class Engine:
    """A database engine."""

    title: str  # how its project writes its name
    version: str  # major version; RDS applies minor versions automatically, in the maintenance window
    port: int  # TCP port
    parameters: Mapping[str, str]
    """Parameters that differ from RDS's defaults, or must not change: TLS alone, and slow statements."""
    logs: tuple[str, ...]
    """Log types that RDS exports (botocore 1.44.5, rds CreateDBInstance, `EnableCloudwatchLogsExports`)."""


ENGINES: Final[Mapping[EngineName, Engine]] = {
    "mysql": Engine(
        title="MySQL",
        version="8.4",
        port=3306,
        parameters={
            # For ML Metadata, whose client knows no other plugin (kubeflow/pipelines 2.17.0, manifests/kustomize/
            # third-party/mysql/base/mysql-deployment.yaml). The master user has the plugin of this parameter (Aurora
            # User Guide, "Security considerations for upgrading ... to version 8.4"; read 2026-11).
            "authentication_policy": "*:mysql_native_password",
            "log_output": "FILE",
            "long_query_time": str(SLOW_MS // 1000),
            # Off by default in 8.4 (RDS User Guide, "Requiring SSL/TLS for all connections to a MySQL DB instance";
            # read 2026-11).
            "require_secure_transport": "1",
            "slow_query_log": "1",
        },
        # Neither `general`, which has every statement, nor `audit`, which needs an option group.
        logs=("error", "slowquery"),
    ),
    "postgres": Engine(
        title="PostgreSQL",
        version="17",
        port=5432,
        # In PostgreSQL 15 and later the default of `rds.force_ssl` is 1; setting it prevents a change (RDS User Guide,
        # "Using SSL with a PostgreSQL DB instance"; read 2026-11).
        parameters={"log_min_duration_statement": str(SLOW_MS), "rds.force_ssl": "1"},
        # All but `iam-db-auth-error`: MLflow authenticates with a password.
        logs=("postgresql", "upgrade"),
    ),
}
KEY_CHARACTERS: Final = 8  # the first part of a key's ID, a random 32-bit number
MONITORING: Final = "service-role/AmazonRDSEnhancedMonitoringRole"


def log_groups(identifier: str) -> str:
    """Prefix of the names of an instance's log groups."""
    return f"/aws/rds/instance/{identifier}"


def final_snapshot(identifier: str, group_id: str, key_arn: str) -> str:
    """Name of an instance's final snapshot: letters, digits and single hyphens, at most 255 (botocore 1.44.5, rds
    DeleteDBInstance, `FinalDBSnapshotIdentifier`).

    Args:
        identifier: The instance.
        group_id: ID of its security group, `sg-0a1b2c3d4e5f67890`.
        key_arn: ARN of its KMS key.
    """
    return "-".join([identifier, "final", group_id.rpartition("-")[2], key_arn.rpartition("/")[2][:KEY_CHARACTERS]])


@dataclass(frozen=True, kw_only=True)
class DatabaseArgs:
    """Inputs of `Database`.

    Attributes:
        settings: Instance class, storage, standby, backups.
        engine: Database engine.
        database: Name of the database, and of its add-on.
        key_arn: KMS key of data, password and logs.
        log_days: Retention of logs, in days.
        cluster: The cluster whose nodes connect to it.
        network: Its network.
        protect: Protect it from deletion, and retain it when removed from the stack.
    """

    settings: settings.Database
    engine: EngineName = "postgres"
    database: str
    key_arn: pulumi.Input[str]
    log_days: int
    cluster: ClusterOutputs
    network: NetworkOutputs
    protect: bool

    @property
    def identifier(self) -> str:
        """Name of the instance: at most 63 characters, of which the cluster's name has up to 40 (botocore 1.44.5, rds
        CreateDBInstance, `DBInstanceIdentifier`)."""
        return f"{self.cluster.owner}-{self.database}"


class Database(pulumi.ComponentResource):
    """An RDS instance in the private subnets."""

    PULUMI_TYPE: Final = "slipway:storage:Database"

    outputs: DatabaseOutputs

    def __init__(self, name: str, args: DatabaseArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        self._name, self._args, self._engine = name, args, ENGINES[args.engine]
        # What a retained instance depends on is retained too.
        self._kept = pulumi.ResourceOptions(parent=self, retain_on_delete=args.protect)
        instance = self._make_instance()
        self.outputs = DatabaseOutputs(
            host=instance.address,
            port=self._engine.port,
            name=args.database,
            secret_arn=instance.master_user_secrets[0].secret_arn,
        )
        self.register_outputs({"host": instance.address})

    def _make_instance(self) -> aws.rds.Instance:
        args, settings, group = self._args, self._args.settings, self._make_group()
        return aws.rds.Instance(
            f"{self._name}-instance",
            identifier=args.identifier,
            engine=args.engine,
            engine_version=self._engine.version,
            auto_minor_version_upgrade=True,
            instance_class=settings.instance_class,
            db_name=args.database,
            username=USER,
            manage_master_user_password=True,
            master_user_secret_kms_key_id=args.key_arn,
            iam_database_authentication_enabled=True,
            allocated_storage=settings.allocated_storage,
            max_allocated_storage=settings.max_allocated_storage,
            storage_type="gp3",
            storage_encrypted=True,
            kms_key_id=args.key_arn,
            multi_az=settings.multi_az,
            db_subnet_group_name=self._make_subnet_group().name,
            vpc_security_group_ids=[group.id],
            publicly_accessible=False,
            parameter_group_name=self._make_parameters().name,
            backup_retention_period=settings.backup_retention_period,
            copy_tags_to_snapshot=True,
            deletion_protection=settings.deletion_protection,
            skip_final_snapshot=not settings.final_snapshot,
            final_snapshot_identifier=self._final_snapshot(group) if settings.final_snapshot else None,
            performance_insights_enabled=True,
            performance_insights_kms_key_id=args.key_arn,
            monitoring_interval=60,
            monitoring_role_arn=self._make_monitoring_role(),
            enabled_cloudwatch_logs_exports=list(self._engine.logs),
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=self._make_logs(),
                protect=args.protect,
                retain_on_delete=args.protect,
                # Storage autoscaling changes the size: that isn't drift.
                ignore_changes=["allocatedStorage"],
                # Its name is fixed: a replacement can't exist beside the instance that it replaces.
                delete_before_replace=True,
            ),
        )

    def _final_snapshot(self, group: aws.ec2.SecurityGroup) -> pulumi.Output[str]:
        """A name that no other database has: the final snapshot of an earlier one keeps its own, and RDS refuses to
        delete an instance whose snapshot's name is taken (RDS API Reference, DeleteDBInstance,
        `DBSnapshotAlreadyExists`).

        AWS never gives the group's ID again; the group is made and deleted with the database. A change of the key is
        the only one that replaces the instance alone. The instance's own ID can't be in one of its inputs.
        """
        return pulumi.Output.all(group.id, self._args.key_arn).apply(
            lambda known: final_snapshot(self._args.identifier, *known)
        )

    def _make_logs(self) -> list[aws.cloudwatch.LogGroup]:
        return [
            aws.cloudwatch.LogGroup(
                f"{self._name}-logs-{kind}",
                name=f"{log_groups(self._args.identifier)}/{kind}",
                retention_in_days=self._args.log_days,
                kms_key_id=self._args.key_arn,
                opts=self._kept,
            )
            for kind in self._engine.logs
        ]

    def _make_monitoring_role(self) -> pulumi.Output[str]:
        """Role with which RDS publishes OS metrics (RDS User Guide, "Setting up Enhanced Monitoring")."""
        role, policy = role_with(
            f"{self._name}-monitoring",
            trust=service_trust("Monitoring", "monitoring.rds.amazonaws.com"),
            description=f"Enhanced Monitoring of {self._args.identifier}",
            policy=Managed(arn=f"arn:{self._args.cluster.partition}:iam::aws:policy/{MONITORING}"),
            opts=self._kept,
        )
        # RDS validates the role when it creates the instance.
        return pulumi.Output.all(role.arn, policy.id).apply(lambda known: known[0])

    def _make_subnet_group(self) -> aws.rds.SubnetGroup:
        args = self._args
        return aws.rds.SubnetGroup(
            f"{self._name}-subnets",
            description=f"Private subnets of {args.cluster.owner}",
            subnet_ids=list(args.network.private_subnets.values()),
            opts=self._kept,
        )

    def _make_parameters(self) -> aws.rds.ParameterGroup:
        """Requires TLS. Parameter groups are of a family, which is the engine with its major version."""
        engine = self._engine
        return aws.rds.ParameterGroup(
            f"{self._name}-parameters",
            family=f"{self._args.engine}{engine.version}",
            description=f"TLS alone and slow statements logged, for {self._args.database}",
            parameters=[
                aws.rds.ParameterGroupParameterArgs(name=name, value=value) for name, value in engine.parameters.items()
            ],
            opts=self._kept,
        )

    def _make_group(self) -> aws.ec2.SecurityGroup:
        args = self._args
        group = make_group(
            f"{self._name}-group",
            vpc_id=args.network.vpc_id,
            description=f"Database of {args.database}",
            shown=f"{args.cluster.owner}-{args.database}-database",
            parent=self,
        )
        allow(
            INGRESS,
            f"{self._name}-from-nodes",
            group=group.id,
            peer=args.cluster.security_group_id,
            ports=(self._engine.port, self._engine.port),
            description=f"{self._engine.title} from nodes",
            parent=self,
        )
        return group

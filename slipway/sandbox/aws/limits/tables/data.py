"""EFS, FSx, ECR and RDS."""

from __future__ import annotations

from slipway.sandbox.aws.limits.operations import sends

OPERATIONS = (
    sends(
        "aws:efs/fileSystem:FileSystem", "efs",
        "create_file_system put_lifecycle_configuration update_file_system_protection",
        members={
            "protection": "update_file_system_protection:", "lifecyclePolicies.transitionToIa": "TransitionToIA",
            "protection.replicationOverwrite": "ReplicationOverwriteProtection",
        },
        supplied="update_file_system_protection.FileSystemId",
    ),
    sends(
        "aws:efs/fileSystemPolicy:FileSystemPolicy", "efs", "put_file_system_policy",
    ),
    sends("aws:efs/backupPolicy:BackupPolicy", "efs", "put_backup_policy"),
    sends("aws:efs/mountTarget:MountTarget", "efs", "create_mount_target"),
    sends("aws:efs/accessPoint:AccessPoint", "efs", "create_access_point"),
    sends(
        "aws:fsx/lustreFileSystem:LustreFileSystem", "fsx",
        "create_file_system create_file_system_from_backup delete_file_system", wrap="LustreConfiguration",
        members={
            "skipFinalBackup": "delete_file_system:LustreConfiguration.SkipFinalBackup",
            "finalBackupTags": "delete_file_system:LustreConfiguration.FinalBackupTags",
            "dataReadCacheConfiguration.size": "SizeGiB",
        },
        supplied="FileSystemType",
    ),
    sends(
        "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation", "fsx",
        "create_data_repository_association delete_data_repository_association",
        members={"deleteDataInFilesystem": "DeleteDataInFileSystem", "s3": "S3"},
    ),
    sends(
        "aws:ecr/repository:Repository", "ecr", "create_repository delete_repository",
        members={
            "name": "repositoryName", "encryptionConfigurations": "encryptionConfiguration", "forceDelete": "force",
        },
    ),
    sends(
        "aws:ecr/lifecyclePolicy:LifecyclePolicy", "ecr", "put_lifecycle_policy",
        members={"repository": "repositoryName", "policy": "lifecyclePolicyText"},
    ),
    sends("aws:ecr/pullThroughCacheRule:PullThroughCacheRule", "ecr", "create_pull_through_cache_rule"),
    sends(
        "aws:ecr/repositoryCreationTemplate:RepositoryCreationTemplate", "ecr", "create_repository_creation_template",
        members={"appliedFors": "appliedFor", "encryptionConfigurations": "encryptionConfiguration"},
    ),
    sends(
        "aws:rds/subnetGroup:SubnetGroup", "rds", "create_db_subnet_group",
        members={"name": "DBSubnetGroupName", "description": "DBSubnetGroupDescription"},
        # The description has a default in the provider.
        supplied="DBSubnetGroupDescription",
    ),
    sends(
        "aws:rds/parameterGroup:ParameterGroup", "rds", "create_db_parameter_group modify_db_parameter_group",
        members={
            "name": "DBParameterGroupName", "family": "DBParameterGroupFamily",
            "parameters.name": "ParameterName", "parameters.value": "ParameterValue",
        },
        supplied="Description",
    ),
    sends(
        "aws:rds/instance:Instance", "rds",
        "create_db_instance modify_db_instance delete_db_instance create_db_instance_read_replica "
        "restore_db_instance_from_db_snapshot restore_db_instance_from_s3 restore_db_instance_to_point_in_time",
        members={
            "identifier": "DBInstanceIdentifier", "instanceClass": "DBInstanceClass", "username": "MasterUsername",
            "password": "MasterUserPassword", "passwordWo": "MasterUserPassword",
            "backupWindow": "PreferredBackupWindow",
            "parameterGroupName": "DBParameterGroupName", "maintenanceWindow": "PreferredMaintenanceWindow",
            "iamDatabaseAuthenticationEnabled": "EnableIAMDatabaseAuthentication",
            "caCertIdentifier": "CACertificateIdentifier", "customerOwnedIpEnabled": "EnableCustomerOwnedIp",
            "enabledCloudwatchLogsExports": "EnableCloudwatchLogsExports",
            "finalSnapshotIdentifier": "FinalDBSnapshotIdentifier",
            "performanceInsightsEnabled": "EnablePerformanceInsights",
            "replicateSourceDb": "SourceDBInstanceIdentifier", "snapshotIdentifier": "DBSnapshotIdentifier",
            "restoreToPointInTime": "restore_db_instance_to_point_in_time:",
            "restoreToPointInTime.sourceDbInstanceIdentifier": "SourceDBInstanceIdentifier",
            "s3Import": "restore_db_instance_from_s3:", "s3Import.bucketName": "S3BucketName",
            "s3Import.bucketPrefix": "S3Prefix", "s3Import.ingestionRole": "S3IngestionRoleArn",
        },
        supplied="restore_db_instance_from_s3.DBInstanceIdentifier restore_db_instance_from_s3.DBInstanceClass "
        "restore_db_instance_from_s3.Engine restore_db_instance_to_point_in_time.TargetDBInstanceIdentifier",
        provider="passwordWoVersion blueGreenUpdate upgradeStorageConfig warningEventCategories",
    ),
)  # fmt: skip

"""File systems, backups, registries, secrets, logs, queues and topics."""

from typing import Any, Final

from policies.resources import tokens
from tests.policies.build import Fixture
from tests.scanners.agreement.spelling import UNREVIEWED, Spelling, allow, by_checkov, by_pack, changed, document, of

_KEY: Final = "arn:aws:kms:us-east-1:111122223333:key/0d0c4a1e-7d5c-4a10-9f5d-7a8f0f1f6a11"
_ROLE: Final = {"AWS": "arn:aws:iam::111122223333:role/reader"}
_PRINCIPALS: Final = ("*", {"AWS": "*"}, {"AWS": ["*"]})
_QUEUE_ARN: Final = "arn:aws:sqs:us-east-1:111122223333:events"
_TOPIC_ARN: Final = "arn:aws:sns:us-east-1:111122223333:events"
_FILES: Final = of(tokens.EFS, {"encrypted": True, "kmsKeyId": _KEY, "throughputMode": "elastic"})
_POINT: Final = of(
    tokens.EFS_ACCESS_POINT,
    {"fileSystemId": "fs-0a1b2c3d", "rootDirectory": {"path": "/vision"}, "posixUser": {"uid": 1000, "gid": 1000}},
)


def _keyed(kind: str, **props: Any) -> tuple[Fixture, Fixture]:
    """With a key, and without."""
    return {"it": of(kind, {**props, "kmsKeyId": _KEY})}, {"it": of(kind, props)}


_LUSTRE: Final = _keyed(
    tokens.LUSTRE,
    deploymentType="PERSISTENT_2",
    storageCapacity=1200,
    subnetIds="subnet-0a1b2c",
    fileSystemTypeVersion="2.15",
)
_ZFS: Final = _keyed(tokens.OPEN_ZFS, deploymentType="SINGLE_AZ_1", storageCapacity=64, throughputCapacity=64)
_ONTAP: Final = _keyed(tokens.ONTAP, deploymentType="MULTI_AZ_1", storageCapacity=1024, throughputCapacity=512)
_SECRET: Final = _keyed(tokens.STORED_SECRET, name="database")
_LOGS: Final = of(tokens.LOG_GROUP, {"name": "/aws/eks/slipway", "retentionInDays": 365, "kmsKeyId": _KEY})
_REPOSITORY: Final = of(
    tokens.REPOSITORY,
    {
        "name": "models",
        "imageTagMutability": "IMMUTABLE",
        "imageScanningConfiguration": {"scanOnPush": True},
        "encryptionConfigurations": [{"encryptionType": "KMS", "kmsKey": _KEY}],
    },
)


def _pullable(principal: Any) -> Fixture:
    text = document({"Effect": "Allow", "Principal": principal, "Action": ["ecr:BatchGetImage"]})
    return {"it": of(tokens.REPOSITORY_POLICY, {"repository": "models", "policy": text})}


def _queue_policy(*statements: dict[str, Any]) -> Fixture:
    props = {"queueUrl": "https://sqs.us-east-1.amazonaws.com/111122223333/events", "policy": document(*statements)}
    return {"it": of(tokens.QUEUE_POLICY, props)}


def _queue(*statements: dict[str, Any]) -> Fixture:
    return {"it": of(tokens.QUEUE, {"name": "events", "kmsMasterKeyId": _KEY, "policy": document(*statements)})}


def _topic_policy(*statements: dict[str, Any]) -> Fixture:
    return {"it": of(tokens.TOPIC_POLICY, {"arn": _TOPIC_ARN, "policy": document(*statements)})}


def _topic(*statements: dict[str, Any]) -> Fixture:
    return {"it": of(tokens.TOPIC, {"name": "events", "kmsMasterKeyId": _KEY, "policy": document(*statements)})}


_SEND: Final = "sqs:SendMessage"
_PUBLISH: Final = "sns:Publish"
_NAMED: Final = allow(_SEND, _QUEUE_ARN, Principal=_ROLE)
_NAMED_TOPIC: Final = allow(_PUBLISH, _TOPIC_ARN, Principal={"Service": "budgets.amazonaws.com"})
_FOREIGN: Final = {"AWS": "arn:aws:iam::444455556666:root"}
_PARAMETER: Final = of(
    tokens.PARAMETER, {"name": "/slipway/database-password", "type": "SecureString", "keyId": _KEY, "value": "it"}
)
_ROTATED: Final[Fixture] = {
    **_SECRET[0],
    "rotation": of(tokens.SECRET_ROTATION, {"rotationRules": {"automaticallyAfterDays": 30}}, secretId="it"),
}
_ROTATION: Final = of(tokens.SECRET_ROTATION, {"secretId": "database", "rotationRules": {"automaticallyAfterDays": 30}})
_BACKED: Final[Fixture] = {
    "files": _FILES,
    "policy": of(tokens.EFS_BACKUP, {"backupPolicy": {"status": "ENABLED"}}, fileSystemId="files"),
}
_PLAN: Final = of("aws:backup/plan:Plan", {"name": "files", "rules": [{"ruleName": "daily", "targetVaultName": "it"}]})
_SELECTED: Final[Fixture] = {
    "files": _FILES,
    "plan": _PLAN,
    "selection": of(
        "aws:backup/selection:Selection",
        {"name": "files", "iamRoleArn": "arn:aws:iam::111122223333:role/backup"},
        planId="plan",
        resources="files",
    ),
}

SPELLINGS: Final = (
    Spelling(
        name="aws_efs_file_system",
        good={"it": _FILES},
        bad={
            "CKV_AWS_42": ({"it": changed(_FILES, "encrypted", False)}, {"it": changed(_FILES, "encrypted")}),
            "CKV_AWS_184": {"it": changed(_FILES, "kmsKeyId")},
        },
    ),
    Spelling(
        name="aws_efs_access_point",
        good={"it": _POINT},
        bad={
            "CKV_AWS_329": (
                {"it": changed(_POINT, "rootDirectory")},
                {"it": changed(_POINT, "rootDirectory.path", "/")},
            ),
            "CKV_AWS_330": {"it": changed(_POINT, "posixUser")},
        },
    ),
    Spelling(
        name="aws_efs_backup_policy",
        good=_BACKED,
        bad={"CKV2_AWS_18": {"files": _FILES}},
        good_differs={
            "CKV2_AWS_18": by_checkov("Checkov does not know backup policies, which put EFS into AWS's plan")
        },
    ),
    Spelling(
        name="aws_backup_selection",
        good=_SELECTED,
        bad={"CKV2_AWS_18": {**_SELECTED, "others": _FILES}},
        good_differs={"CKV2_AWS_18": UNREVIEWED},
    ),
    Spelling(
        name="aws_backup_vault",
        good={"it": of(tokens.BACKUP_VAULT, {"name": "it", "kmsKeyArn": _KEY})},
        bad={"CKV_AWS_166": {"it": of(tokens.BACKUP_VAULT, {"name": "it"})}},
    ),
    Spelling(name="aws_fsx_ontap_file_system", good=_ONTAP[0], bad={"CKV_AWS_178": _ONTAP[1]}),
    Spelling(name="aws_fsx_openzfs_file_system", good=_ZFS[0], bad={"CKV_AWS_203": _ZFS[1]}),
    Spelling(name="aws_fsx_lustre_file_system", good=_LUSTRE[0], bad={"CKV_AWS_190": _LUSTRE[1]}),
    Spelling(
        name="aws_fsx_lustre_file_system, scratch",
        good={"it": of(tokens.LUSTRE, {"deploymentType": "SCRATCH_2", "storageCapacity": 1200})},
        bad={"CKV_AWS_190": _LUSTRE[1]},
        good_differs={"CKV_AWS_190": by_checkov("scratch file systems take no key (FSx for Lustre User Guide)")},
    ),
    Spelling(
        name="aws_cloudwatch_log_group",
        good={"it": _LOGS},
        bad={
            "CKV_AWS_66": {"it": changed(_LOGS, "retentionInDays")},
            "CKV_AWS_158": {"it": changed(_LOGS, "kmsKeyId")},
            "CKV_AWS_338": {"it": changed(_LOGS, "retentionInDays", 30)},
        },
    ),
    Spelling(
        name="aws_ecr_repository",
        good={"it": _REPOSITORY},
        bad={
            "CKV_AWS_51": (
                {"it": changed(_REPOSITORY, "imageTagMutability", "MUTABLE")},
                {"it": changed(_REPOSITORY, "imageTagMutability")},
            ),
            "CKV_AWS_136": (
                {"it": changed(_REPOSITORY, "encryptionConfigurations")},
                {"it": changed(_REPOSITORY, "encryptionConfigurations", [{"encryptionType": "AES256"}])},
            ),
            "CKV_AWS_163": (
                {"it": changed(_REPOSITORY, "imageScanningConfiguration")},
                {"it": changed(_REPOSITORY, "imageScanningConfiguration.scanOnPush", False)},
            ),
        },
    ),
    Spelling(
        name="aws_ecr_repository_policy",
        good=_pullable(_ROLE),
        bad={"CKV_AWS_32": tuple(_pullable(principal) for principal in _PRINCIPALS)},
    ),
    Spelling(name="aws_secretsmanager_secret", good=_SECRET[0], bad={"CKV_AWS_149": _SECRET[1]}),
    Spelling(name="aws_secretsmanager_secret_rotation, secret_id", good=_ROTATED, bad={"CKV2_AWS_57": _SECRET[0]}),
    Spelling(
        name="aws_secretsmanager_secret_rotation",
        good={"it": _ROTATION},
        bad={"CKV_AWS_304": {"it": changed(_ROTATION, "rotationRules.automaticallyAfterDays", 365)}},
    ),
    Spelling(
        name="aws_ssm_parameter",
        good={"it": _PARAMETER},
        bad={
            "CKV_AWS_337": {"it": changed(_PARAMETER, "keyId")},
            "CKV2_AWS_34": (
                {"it": changed(_PARAMETER, "type", "String")},
                {"it": changed(_PARAMETER, "type", "StringList")},
            ),
        },
    ),
    Spelling(
        name="aws_ssm_parameter, not a secret by its name",
        good={"it": of(tokens.PARAMETER, {"name": "/slipway/image", "type": "String", "value": "ami-0a1b2c"})},
        bad={"CKV2_AWS_34": {"it": changed(_PARAMETER, "type", "String")}},
        good_differs={
            "CKV2_AWS_34": by_checkov("IDs of images are no secrets; Checkov wants each parameter encrypted")
        },
    ),
    Spelling(
        name="aws_sns_topic",
        good={"it": of(tokens.TOPIC, {"name": "events", "kmsMasterKeyId": _KEY})},
        bad={"CKV_AWS_26": {"it": of(tokens.TOPIC, {"name": "events"})}},
    ),
    Spelling(
        name="aws_sqs_queue",
        good={"it": of(tokens.QUEUE, {"name": "events", "kmsMasterKeyId": _KEY})},
        bad={
            "CKV_AWS_27": {"it": of(tokens.QUEUE, {"name": "events", "sqsManagedSseEnabled": False})},
            "CKV2_AWS_73": {"it": of(tokens.QUEUE, {"name": "events", "kmsMasterKeyId": "alias/aws/sqs"})},
        },
    ),
    Spelling(
        name="aws_sqs_queue, sqs_managed_sse_enabled",
        good={"it": of(tokens.QUEUE, {"name": "events", "sqsManagedSseEnabled": True})},
        bad={"CKV_AWS_27": {"it": of(tokens.QUEUE, {"name": "events", "sqsManagedSseEnabled": False})}},
    ),
    Spelling(
        name="aws_sqs_queue, encrypted by default",
        good={"it": of(tokens.QUEUE, {"name": "events"})},
        bad={"CKV_AWS_27": {"it": of(tokens.QUEUE, {"name": "events", "sqsManagedSseEnabled": False})}},
        good_differs={"CKV_AWS_27": by_checkov("SQS encrypts new queues by default; Checkov wants it written down")},
    ),
    Spelling(
        name="aws_sqs_queue, policy",
        good=_queue(_NAMED),
        bad={"CKV_AWS_168": tuple(_queue(allow(_SEND, _QUEUE_ARN, Principal=one)) for one in _PRINCIPALS)},
    ),
    Spelling(
        name="aws_sqs_queue, policy, what Checkov reads in aws_sqs_queue_policy",
        good=_queue(_NAMED),
        bad={
            "CKV_AWS_72": _queue(allow("*", _QUEUE_ARN, Principal=_ROLE)),
            "CKV_AWS_387": _queue(allow("sqs:*", _QUEUE_ARN, Principal="*")),
        },
        bad_differs=dict.fromkeys(
            ("CKV_AWS_72", "CKV_AWS_387"), by_pack("Checkov does not read it in the queue itself")
        ),
    ),
    Spelling(
        name="aws_sqs_queue_policy",
        good=_queue_policy(_NAMED),
        bad={
            "CKV_AWS_72": _queue_policy(allow("*", _QUEUE_ARN, Principal=_ROLE)),
            "CKV_AWS_168": tuple(_queue_policy(allow(_SEND, _QUEUE_ARN, Principal=one)) for one in _PRINCIPALS),
            "CKV_AWS_387": tuple(_queue_policy(allow([_SEND], _QUEUE_ARN, Principal=one)) for one in _PRINCIPALS),
        },
    ),
    Spelling(
        name="aws_sqs_queue_policy, actions as a list",
        good=_queue_policy(_NAMED),
        bad={
            "CKV_AWS_72": (
                _queue_policy(allow(["*"], _QUEUE_ARN, Principal=_ROLE)),
                _queue_policy(allow("sqs:*", _QUEUE_ARN, Principal=_ROLE)),
            )
        },
        bad_differs={"CKV_AWS_72": by_pack("Checkov compares the action with the text *")},
    ),
    Spelling(
        name="aws_sns_topic_policy",
        good=_topic_policy(_NAMED_TOPIC),
        bad={
            "CKV_AWS_169": tuple(_topic_policy(allow(_PUBLISH, _TOPIC_ARN, Principal=one)) for one in _PRINCIPALS),
            "CKV_AWS_385": _topic_policy(allow(_PUBLISH, _TOPIC_ARN, Principal=_FOREIGN)),
        },
    ),
    Spelling(
        name="aws_sns_topic, policy",
        good=_topic(_NAMED_TOPIC),
        bad={
            "CKV_AWS_169": tuple(_topic(allow(_PUBLISH, _TOPIC_ARN, Principal=one)) for one in _PRINCIPALS),
            "CKV_AWS_385": _topic(allow(_PUBLISH, _TOPIC_ARN, Principal=_FOREIGN)),
        },
        bad_differs=dict.fromkeys(("CKV_AWS_169", "CKV_AWS_385"), by_pack("Checkov reads aws_sns_topic_policy only")),
    ),
    Spelling(
        name="aws_sns_topic_policy, a role of the topic's account",
        good=_topic_policy(allow(_PUBLISH, _TOPIC_ARN, Principal=_ROLE)),
        bad={"CKV_AWS_385": _topic_policy(allow(_PUBLISH, _TOPIC_ARN, Principal=_FOREIGN))},
        good_differs={"CKV_AWS_385": by_checkov("Checkov does not compare the account with the topic's")},
    ),
)

"""S3 buckets and their settings, each of which is a separate resource.

BucketLogging is a record: moto 5.2.5 accepts a policy for log delivery only if principal and resource aren't lists.
"""

# All functions of a mapping take the same arguments, used or not.
# ruff: noqa: ARG001

from __future__ import annotations

from typing import Any

from slipway.sandbox.aws.client import Aws
from slipway.sandbox.aws.mapping import ALWAYS, ANY, Call, Inputs, Item, ResourceMapping, Setting, Tags, find

SERVICE = "s3"
NO_LOCATION = "us-east-1"
"""The one region that must not be the location constraint of a bucket
(https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateBucket.html, read 2026-11).
"""


def _create(aws: Aws, inputs: Inputs) -> str:
    name = str(inputs["bucket"])
    place = {} if aws.region == NO_LOCATION else {"CreateBucketConfiguration": {"LocationConstraint": aws.region}}
    lock = {"ObjectLockEnabledForBucket": True} if inputs.get("objectLockEnabled") in (True, "true") else {}
    aws.call(SERVICE, "create_bucket", Bucket=name, **place, **lock)
    return name


def _set_tags(aws: Aws, id: str, inputs: Inputs) -> None:
    """Replace the whole set: S3 can't change single tags."""
    pairs = [{"Key": key, "Value": value} for key, value in (inputs.get("tags") or {}).items()]
    if pairs:
        aws.call(SERVICE, "put_bucket_tagging", Bucket=id, Tagging={"TagSet": pairs})
    else:
        aws.call(SERVICE, "delete_bucket_tagging", Bucket=id)


def _read(aws: Aws, id: str, names: Inputs) -> Item | None:
    if find(aws, SERVICE, Call("list_objects_v2", target={"Bucket": "{id}"}, fixed={"MaxKeys": 1}), {"id": id}) is None:
        return None
    tags = find(aws, SERVICE, Call("get_bucket_tagging", target={"Bucket": "{id}"}), {"id": id}) or {}
    return {"Bucket": id, "TagSet": tags.get("TagSet", [])}


def _delete(aws: Aws, id: str, outputs: Inputs) -> None:
    """AWS refuses while there are objects; `forceDestroy` deletes them with all their versions."""
    if outputs.get("forceDestroy") in (True, "true"):
        while True:
            listed = aws.call(SERVICE, "list_object_versions", Bucket=id)
            objects = [*listed.get("Versions", []), *listed.get("DeleteMarkers", [])]
            if not objects:
                break
            keys = [{"Key": item["Key"], "VersionId": item["VersionId"]} for item in objects]
            aws.call(SERVICE, "delete_objects", Bucket=id, Delete={"Objects": keys})
    aws.call(SERVICE, "delete_bucket", Bucket=id)


BUCKET = ResourceMapping(
    "aws:s3/bucket:Bucket",
    SERVICE,
    create=_create,
    id="",
    read=_read,
    delete=_delete,
    force_new=frozenset({"bucket", "bucketNamespace", "bucketPrefix", "objectLockEnabled"}),
    settings=(Setting((ALWAYS,), _set_tags),),
    tags=Tags(replace=_set_tags),
    name="bucket",
    name_limit=63,
    computed={
        "arn": "arn:{partition}:s3:::{id}",
        "bucketDomainName": "{id}.s3.amazonaws.com",
        "bucketRegionalDomainName": "{id}.s3.{region}.amazonaws.com",
        "bucketRegion": "{region}",
    },
)


def _on_bucket(
    type_name: str, put: Call, get: Call, delete: Call, drift: tuple[str, ...], *forcing: str
) -> ResourceMapping:
    """A setting of a bucket, sent as a whole; a change of the bucket or of a `forcing` input forces a replacement."""

    def create(aws: Aws, inputs: Inputs) -> str:
        send(aws, "", inputs)
        return str(inputs["bucket"])

    def send(aws: Aws, id: str, inputs: Inputs) -> None:
        shape_names = {**inputs, "id": inputs["bucket"]}
        put(aws, SERVICE, {key: value for key, value in inputs.items() if key != "tags"}, shape_names)

    def read(aws: Aws, id: str, names: Inputs) -> Item | None:
        item: dict[str, Any] | None = find(aws, SERVICE, get, {"id": id})  # type: ignore[assignment]
        return None if item is None else {"bucket": id, **item}

    camel = type_name[0].lower() + type_name[1:]
    return ResourceMapping(
        f"aws:s3/{camel}:{type_name}",
        SERVICE,
        create=create,
        id="",
        read=read,
        delete=delete,
        force_new=frozenset({"bucket", *forcing}),
        settings=(Setting((ANY,), send, at_create=False),),
        drift=drift,
    )


_BUCKET = {"Bucket": "{id}"}
_OMIT = frozenset({"bucket", "expectedBucketOwner", "mfa", "timeouts", "transitionDefaultMinimumObjectSize"})

MAPPINGS = (
    BUCKET,
    _on_bucket(
        "BucketVersioning",
        Call("put_bucket_versioning", _BUCKET, omit=_OMIT),
        Call("get_bucket_versioning", _BUCKET, item="{versioningConfiguration: @}"),
        # Versioning can't be turned off, only suspended.
        Call("put_bucket_versioning", _BUCKET, fixed={"VersioningConfiguration": {"Status": "Suspended"}}),
        ("versioningConfiguration",),
        "expectedBucketOwner",
    ),
    _on_bucket(
        "BucketServerSideEncryptionConfiguration",
        Call("put_bucket_encryption", _BUCKET, omit=_OMIT, wrap="ServerSideEncryptionConfiguration"),
        Call("get_bucket_encryption", _BUCKET, item="ServerSideEncryptionConfiguration"),
        Call("delete_bucket_encryption", _BUCKET),
        ("rules",),
        "expectedBucketOwner",
    ),
    _on_bucket(
        "BucketPublicAccessBlock",
        Call("put_public_access_block", _BUCKET, omit=_OMIT, wrap="PublicAccessBlockConfiguration"),
        Call("get_public_access_block", _BUCKET, item="PublicAccessBlockConfiguration"),
        Call("delete_public_access_block", _BUCKET),
        ("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets"),
    ),
    _on_bucket(
        "BucketLifecycleConfiguration",
        Call("put_bucket_lifecycle_configuration", _BUCKET, omit=_OMIT, wrap="LifecycleConfiguration"),
        Call("get_bucket_lifecycle_configuration", _BUCKET),
        Call("delete_bucket_lifecycle", _BUCKET),
        (),
        "expectedBucketOwner",
    ),
    _on_bucket(
        "BucketOwnershipControls",
        Call("put_bucket_ownership_controls", _BUCKET, omit=_OMIT, wrap="OwnershipControls"),
        Call("get_bucket_ownership_controls", _BUCKET, item="{rule: OwnershipControls.Rules[0]}"),
        Call("delete_bucket_ownership_controls", _BUCKET),
        ("rule",),
    ),
    _on_bucket(
        "BucketPolicy",
        Call("put_bucket_policy", _BUCKET, omit=frozenset({"bucket"})),
        Call("get_bucket_policy", _BUCKET),
        Call("delete_bucket_policy", _BUCKET),
        ("policy",),
    ),
)

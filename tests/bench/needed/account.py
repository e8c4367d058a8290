"""What buckets, image caches and budgets need."""

from collections.abc import Mapping
from typing import Final

from slipway.render.recording import RecordedResource
from tests.bench.needed.need import Index, Need, inputs, of

BUCKET: Final = "aws:s3/bucket:Bucket"
VERSIONING: Final = "aws:s3/bucketVersioning:BucketVersioning"
LIFECYCLE: Final = "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration"
ACCESS_BLOCK: Final = "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock"
BUCKET_POLICY: Final = "aws:s3/bucketPolicy:BucketPolicy"
LOGGING: Final = "aws:s3/bucketLogging:BucketLogging"
CACHE: Final = "aws:ecr/pullThroughCacheRule:PullThroughCacheRule"
TEMPLATE: Final = "aws:ecr/repositoryCreationTemplate:RepositoryCreationTemplate"
TOPIC_POLICY: Final = "aws:sns/topicPolicy:TopicPolicy"
BUDGET: Final = "aws:budgets/budget:Budget"
ANOMALIES: Final = "aws:costexplorer/anomalySubscription:AnomalySubscription"


def _of_bucket(index: Index, later: RecordedResource, token: str, property_: str = "bucket") -> list[RecordedResource]:
    """Resources of a type on the bucket that an input names."""
    buckets = {each.urn for each in index.behind(later, property_)}
    return [each for each in index.of_type(token) if buckets & {one.urn for one in index.behind(each, "bucket")}]


def _template(index: Index, rule: RecordedResource) -> list[RecordedResource]:
    return index.matching(TEMPLATE, prefix=inputs(rule).get("ecrRepositoryPrefix"))


def _topic_policies(index: Index, later: RecordedResource) -> list[RecordedResource]:
    topics = {each.urn for each in index.behind(later, "notifications", "subscribers")}
    return [each for each in index.of_type(TOPIC_POLICY) if topics & {one.urn for one in index.behind(each, "arn")}]


NEEDS: Final[Mapping[str, Need]] = {
    "lifecycle rules after versioning": Need(
        later=of(LIFECYCLE),
        earlier=lambda index, later: _of_bucket(index, later, VERSIONING),
        required=True,
        why="rules for noncurrent versions apply to a versioned bucket (Terraform AWS provider, "
        "aws_s3_bucket_lifecycle_configuration: 'Must have bucket versioning enabled first')",
    ),
    "a bucket policy after the public access block": Need(
        later=of(BUCKET_POLICY),
        earlier=lambda index, later: _of_bucket(index, later, ACCESS_BLOCK),
        required=True,
        why="S3 refuses two changes of a bucket's access at once: OperationAborted "
        "(hashicorp/terraform-provider-aws#7628)",
    ),
    "access logging after the policy of its target": Need(
        later=of(LOGGING),
        earlier=lambda index, later: _of_bucket(index, later, BUCKET_POLICY, "targetBucket"),
        required=True,
        why="the policy lets S3 deliver (S3 User Guide, 'Enabling Amazon S3 server access logging')",
    ),
    "an image cache after its template": Need(
        later=of(CACHE),
        earlier=_template,
        required=True,
        why="a template has no effect on a repository that the first pull has created before it (ECR User Guide, "
        "'Creating a repository creation template in Amazon ECR')",
    ),
    "budgets and anomalies after the policy of their topic": Need(
        later=of(BUDGET, ANOMALIES),
        earlier=_topic_policies,
        required=True,
        why="the service must be allowed to publish when it is given the topic (Cost Management User Guide, 'Creating "
        "an Amazon SNS topic for budget notifications' and '... for anomaly notifications')",
    ),
}

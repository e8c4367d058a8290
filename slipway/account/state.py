"""The bucket of Pulumi's state, and the key of its secrets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from botocore.exceptions import ClientError

from slipway.account.context import Context, failed, note, ok
from slipway.findings import Finding

GUIDE: Final = "docs/first-deployment.md, State"
_KMS: Final = "awskms://"


def bucket(context: Context) -> Iterator[Finding]:
    """The state is in a bucket that exists and keeps versions."""
    url = context.backend.url
    if not url:
        yield note("state", "nobody is logged in to a backend", f"run `pulumi login s3://BUCKET` ({GUIDE})")
        return
    scheme, name = urlsplit(url).scheme, urlsplit(url).netloc
    if scheme != "s3":
        local = scheme == "file"
        yield note("state", url, f"a state on one machine is lost with it: use a bucket ({GUIDE})" if local else "")
        return
    client = context.client("s3")
    try:
        client.head_bucket(Bucket=name)
    except ClientError as error:
        if error.response["Error"]["Code"] not in ("404", "NoSuchBucket"):
            raise
        yield failed("state", f"bucket {name} does not exist", f"create it ({GUIDE})")
        return
    if client.get_bucket_versioning(Bucket=name).get("Status") != "Enabled":
        fix = f"aws s3api put-bucket-versioning --bucket {name} --versioning-configuration Status=Enabled"
        yield note("state", f"bucket {name} keeps no versions: a lost state can't be restored", fix)
    else:
        yield ok("state", f"{url}, versioned")


def key(context: Context) -> Iterator[Finding]:
    """The key that encrypts secrets in the state exists and is enabled."""
    provider = context.backend.secrets_provider
    if not provider.startswith(_KMS):
        used = provider or "the backend's default"
        yield note("secrets", f"{used}", f"with a KMS key nobody has to share a passphrase ({GUIDE})")
        return
    # `awskms://alias/NAME`, `awskms://ID` and `awskms:///arn:...` (Pulumi, "State and backends", secrets providers).
    id = provider.removeprefix(_KMS).partition("?")[0].lstrip("/")
    try:
        state = context.client("kms").describe_key(KeyId=id)["KeyMetadata"]["KeyState"]
    except ClientError as error:
        if error.response["Error"]["Code"] != "NotFoundException":
            raise
        yield failed("secrets", f"key {id} does not exist in {context.region}", f"create it ({GUIDE})")
        return
    if state == "Enabled":
        yield ok("secrets", f"key {id} is enabled")
    else:
        yield failed(
            "secrets", f"key {id} is {state}: the state can't be decrypted", "enable it, or cancel its deletion"
        )

"""Secrets: none in plain text, none in the state, and stores that are encrypted."""

from collections.abc import Iterator
from typing import Final

from policies.checks.questions import at_most, each, has_companion, present
from policies.evaluation import texts
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import AWS_PROVIDER, PARAMETER, SECRET, SECRET_ROTATION, STORED_SECRET
from policies.rule import ANY, Context, ResourceRule, StackRule, Violation, setting, violation
from spec.catalog.credentials import credentials

SECRET_TYPES: Final = frozenset(
    {SECRET, "aws:secretsmanager/secretVersion:SecretVersion", "aws:ssm/parameter:Parameter"}
)
"""Types whose purpose is to hold a secret. User data has its own rule, which decodes it."""


_PROVIDER_KEYS: Final = ("accessKey", "secretKey", "token")


def _credentials(resource: Resource, _: Context) -> Iterator[Violation]:
    if resource.type in SECRET_TYPES:
        return
    if resource.type == AWS_PROVIDER:
        keys = (resource[key] for key in _PROVIDER_KEYS)
        yield from (Violation(path=node.path, got="a credential of the provider") for node in keys if node.known)
        return
    for node in resource.props.walk():
        if isinstance(node.raw, str):
            # Under its key, and decoded: data of ConfigMaps may be binary.
            for form in credentials(f"{node.path.rpartition('.')[2]}={node.raw}\n{texts.decoded(node.raw)}"):
                yield Violation(path=node.path, got=f"a text that looks like a credential ({form})")


NO_PLAINTEXT = ResourceRule(
    name="no-plaintext-secrets",
    types=ANY,
    finds={"credential": _credentials},
)


_DATA: Final = ("data", "stringData")
_OF_CLUSTER: Final = "kubernetes.io/service-account-token"
"""The cluster fills in the token (kubernetes.io, "Secrets", types)."""


def _written(stack: Stack, context: Context) -> Iterator[Violation]:
    """A value from another resource, such as a password of RDS, is not in the program. The message names no value."""
    for secret in stack.of(SECRET):
        filled = secret["type"].unknown or secret["type"].raw == _OF_CLUSTER
        if filled or any(secret.sources.get(key) for key in _DATA):
            continue
        for key in _DATA:
            for name, node in secret[key].fields().items():
                if node.known and node.raw != "" and name not in context.settings["keys"]:
                    yield Violation(path=node.path, got="a value that the program contains", at=secret)


SECRETS_ELSEWHERE = StackRule(
    name="secret-values-elsewhere",
    types=(SECRET,),
    settings={"keys": setting("keys of Secrets whose values are no secrets", ["username"])},
    finds={"value": _written},
)


_WORDS: Final = ("password", "secret", "token", "apikey", "api-key", "api_key", "credential")


def _named_like_a_secret(parameter: Resource) -> bool:
    return any(word in (parameter["name"].text() or parameter.name).lower() for word in _WORDS)


def _plain_type(parameter: Resource, _: Context) -> Iterator[Violation]:
    if _named_like_a_secret(parameter) and parameter["type"].is_not("SecureString"):
        yield violation(parameter["type"], at=parameter)


def _aws_key(parameter: Resource, _: Context) -> Iterator[Violation]:
    if parameter["type"].raw == "SecureString" and parameter["keyId"].missing:
        yield violation(parameter["keyId"], at=parameter)


SECRET_STORES = StackRule(
    name="secret-stores-encrypted",
    types=(STORED_SECRET, SECRET_ROTATION, PARAMETER),
    settings={"days": setting("maximum days between rotations of a secret", 90, minimum=1)},
    finds={
        "key": each(STORED_SECRET, present("kmsKeyId")),
        "rotated": has_companion(SECRET_ROTATION, "secretId", STORED_SECRET, "never rotated"),
        "days": each(SECRET_ROTATION, at_most("rotationRules.automaticallyAfterDays", "days")),
        "parameter": each(PARAMETER, _plain_type),
        "parameter-key": each(PARAMETER, _aws_key),
    },
)

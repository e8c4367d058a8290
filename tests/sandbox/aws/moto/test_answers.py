"""Requests that moto alone answers wrongly, or does not know, are answered as AWS answers them."""

from typing import Any, Final

import pytest

from sandbox.aws.client import AwsError
from sandbox.aws.moto import kept
from sandbox.aws.rules.requests import search
from sandbox.aws.shapes import fill
from spec import strict_yaml
from tests.sandbox.aws.samples import World

ROWS: Final = strict_yaml.beside(__file__, "answers")


@pytest.mark.parametrize("subject", ROWS)
def test_requests_are_answered(world: World, subject: str) -> None:
    names: dict[str, Any] = world.aws.names()
    for called, parameters, expected in ROWS[subject]:
        service, _, operation = called.partition(".")
        try:
            answer = world.aws.call(service, operation, **_filled(parameters, names))
        except AwsError as error:
            answer = {"refused": error.code, "words": error.text}
        assert answer.get("refused") == expected.get("refused"), (called, answer)
        for path, value in expected.items():
            if path == "refused":
                continue
            if isinstance(value, str) and path.isidentifier() and path.islower():
                names[path] = search(value, answer)
            else:
                assert search(path, answer) == _filled(value, names), (called, path, answer)


def _filled(template: Any, names: dict[str, Any]) -> Any:
    """A text that starts with a brace is a document, or one name."""
    if isinstance(template, str) and template.startswith('{"'):
        return template
    if isinstance(template, list):
        return [_filled(one, names) for one in template]
    return (
        {key: _filled(one, names) for key, one in template.items()}
        if isinstance(template, dict)
        else fill(template, names)
    )


def test_every_kind_is_asked() -> None:
    asked = {called.replace("_", "") for steps in ROWS.values() for called, *_ in steps}
    kinds = {(service, kind.name) for (service, _), (_, kind) in kept.operations().items()}
    found = {
        (service, kind.name)
        for (service, operation), (_, kind) in kept.operations().items()
        if f"{service}.{operation.lower()}" in asked
    }
    assert kinds == found


def test_an_operation_that_nobody_answers_is_refused_in_the_services_form(world: World) -> None:
    with pytest.raises(AwsError, match="the sandbox's AWS does not answer ce get_anomalies") as raised:
        world.aws.call("ce", "get_anomalies", DateInterval={"StartDate": "2026-11-01"})
    assert raised.value.code == kept.UNANSWERED

"""Asking the account at preview what it would refuse of a planned change: nothing is changed by that.

The provider applies the plan with a mark, by which the account judges the first request that would change something
(`moto.questions`). Values that nobody knows yet are texts that the account's rules skip.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from sandbox.aws.client import AwsError
from sandbox.aws.moto import questions
from sandbox.aws.moto.kept import UNANSWERED
from sandbox.aws.terraform import objects
from sandbox.aws.terraform.acting import Acting
from sandbox.aws.terraform.messages import Unknown
from sandbox.aws.terraform.objects import Plan, State
from sandbox.aws.terraform.plugin import checked
from sandbox.rpc.wire import UNKNOWN

SECONDS: Final = 20.0
"""The longest that a provider may take until its first request: it may try for minutes what it thinks will pass."""


class RefusedError(AwsError):
    """What the account would refuse."""


def ask(acting: Acting, plan: Plan) -> None:
    """Ask about a plan. Raises RefusedError for what the account, ProviderError for what the provider refuses."""
    with questions.asked() as question, acting.plugin() as plugin:
        future = plugin.begin(
            "ApplyResourceChange",
            **objects.request(acting.type, _guessed(plan)),
            provider_meta=objects.meta(questions.MARK, question.number),
        )
        future.add_done_callback(lambda _: question.judged.set())
        question.judged.wait(SECONDS)
        future.cancel()
        for code, text in question.problems:
            raise RefusedError(acting.type.token, code, text)
        if not (question.seen or future.cancelled() or objects.has_unknown(plan.config)):
            # What it refuses before it asks anything; what nobody answers becomes a record.
            answer = future.result()
            if UNANSWERED not in str(answer):
                checked(answer)


def _guessed(plan: Plan) -> Plan:
    """The plan, of whose unknown inputs a text stands for each."""
    config = {key: _guess(value) for key, value in (plan.config or {}).items()}
    value = {key: _over(item, config.get(key)) for key, item in (plan.after.value or {}).items()}
    return replace(plan, config=config, after=State(value, plan.after.private))


def _guess(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _guess(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_guess(item) for item in value]
    return UNKNOWN if isinstance(value, Unknown) else value


def _over(planned: Any, config: Any) -> Any:
    """A planned value, with the configuration's where it isn't known."""
    if isinstance(planned, Unknown):
        return planned if config is None else config
    if isinstance(planned, Mapping) and isinstance(config, Mapping):
        return {key: _over(item, config.get(key)) for key, item in planned.items()}
    if isinstance(planned, list) and isinstance(config, list) and len(planned) == len(config):
        return [_over(one, other) for one, other in zip(planned, config, strict=True)]
    return planned

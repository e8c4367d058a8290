"""What becomes of each operation that a killed run left open."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from slipway.account import lookup
from slipway.account.context import Client
from slipway.engine.pending import CREATING, PendingOperation

_KUBERNETES: Final = "kubernetes:"
_PROVIDER: Final = "pulumi:providers:"
_RELEASE: Final = "kubernetes:helm.sh/v3:Release"
IF_IT_EXISTS: Final = "if it exists"  # the id follows from the inputs; the refresh removes what is not there


class RecoveryAction(Enum):
    """What is done about an operation."""

    ADOPT = "adopt"  # the object goes into the state with its id; if it does not exist, the refresh removes it again
    REPEAT = "repeat"  # nothing was made that has to be known: the next `up` does the same once more
    REFRESH = "refresh"  # an update or a deletion: a refresh reads how far it came
    CHOOSE = "choose"  # several objects could be it, or its type can't be looked for: a person has to say which


@dataclass(frozen=True)
class RecoveryStep:
    """One operation, and what is done about it."""

    operation: PendingOperation
    action: RecoveryAction
    id: str = ""
    why: str = ""


def plan(
    operations: Iterable[PendingOperation],
    in_state: Mapping[str, frozenset[str]],
    client: Client,
    chosen: Mapping[str, str],
) -> list[RecoveryStep]:
    """A step for each operation.

    Args:
        operations: The open operations.
        in_state: Ids of the state by type: such an object belongs to another resource.
        client: boto3 clients of the account, in the stack's region.
        chosen: Ids that the user gave by URN; an empty one means that nothing was made.

    Raises:
        ClientError, BotoCoreError: AWS does not answer.
    """
    steps: list[RecoveryStep] = []
    for operation in operations:
        taken = {step.id for step in steps if step.operation.type == operation.type}
        steps.append(_step(operation, in_state.get(operation.type, frozenset()) | taken, client, chosen))
    return steps


def _step(
    operation: PendingOperation, taken: frozenset[str], client: Client, chosen: Mapping[str, str]
) -> RecoveryStep:
    if operation.kind != CREATING:
        return RecoveryStep(operation, RecoveryAction.REFRESH, why=f"{operation.kind} had begun")
    if operation.urn in chosen:
        id = chosen[operation.urn]
        return RecoveryStep(operation, RecoveryAction.ADOPT if id else RecoveryAction.REPEAT, id, "as you said")
    if operation.id:
        return RecoveryStep(operation, RecoveryAction.ADOPT, operation.id, "created, and not yet recorded as such")
    return _without_id(operation, taken, client)


def _without_id(operation: PendingOperation, taken: frozenset[str], client: Client) -> RecoveryStep:
    if not operation.custom:
        return RecoveryStep(operation, RecoveryAction.ADOPT, why="a component, which the engine alone knows")
    if operation.type.startswith(_PROVIDER):
        return RecoveryStep(operation, RecoveryAction.REPEAT, why="a provider: nothing was made with it yet")
    if operation.type.startswith(_KUBERNETES):
        return RecoveryStep(operation, RecoveryAction.ADOPT, _object(operation), IF_IT_EXISTS)
    return _in_aws(operation, taken, client)


def _in_aws(operation: PendingOperation, taken: frozenset[str], client: Client) -> RecoveryStep:
    if operation.type in lookup.REPEATABLE:
        return RecoveryStep(operation, RecoveryAction.REPEAT, why="a setting of another object")
    if not lookup.known(operation.type):
        return RecoveryStep(operation, RecoveryAction.CHOOSE, why="objects of this type can't be looked for")
    found = [id for id in lookup.candidates(client, operation.type, operation.inputs) if id not in taken]
    if len(found) > 1:
        return RecoveryStep(operation, RecoveryAction.CHOOSE, why=f"it could be {', '.join(found)}")
    if not found:
        return RecoveryStep(operation, RecoveryAction.REPEAT, why="nothing was made")
    return RecoveryStep(
        operation, RecoveryAction.ADOPT, found[0], IF_IT_EXISTS if operation.type in lookup.NAMED else "found in AWS"
    )


def _object(operation: PendingOperation) -> str:
    """The id of a Kubernetes object or a Helm release: `NAMESPACE/NAME`, or the name alone of an object that names no
    namespace (pulumi-kubernetes v4.34.2, provider/pkg/provider/provider.go, `FqObjName`)."""
    of_release = operation.type == _RELEASE
    metadata = operation.inputs if of_release else operation.inputs.get("metadata") or {}
    namespace, name = metadata.get("namespace"), metadata["name"]
    return f"{namespace}/{name}" if namespace else str(name)


def existing(steps: Sequence[RecoveryStep], chosen: Mapping[str, str]) -> list[RecoveryStep]:
    """Of the steps for a run that failed, those whose objects were found, or named by a person.

    An object that has the right name alone may be somebody else's, or not be there. What could be several objects was
    perhaps never made.
    """
    kept = []
    for step in steps:
        found = step.action is RecoveryAction.ADOPT and step.operation.custom
        if step.operation.urn in chosen or (found and step.why != IF_IT_EXISTS):
            kept.append(step)
    needed = {str(step.operation.parent) for step in kept}
    components = [step for step in steps if not step.operation.custom]
    for step in reversed(components):
        if step.operation.urn in needed:
            kept.append(step)
            needed.add(step.operation.parent)
    return kept


def adopted(steps: Iterable[RecoveryStep]) -> dict[str, str]:
    """Ids by URN of what goes into the state."""
    return {step.operation.urn: step.id for step in steps if step.action is RecoveryAction.ADOPT}


def undecided(steps: Iterable[RecoveryStep]) -> Iterator[RecoveryStep]:
    """Steps about which a person has to decide."""
    return (step for step in steps if step.action is RecoveryAction.CHOOSE)

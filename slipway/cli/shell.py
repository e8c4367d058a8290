"""`eval "$(slipway sandbox env)"` sets up a shell in which a plain `pulumi up -s dev` works on the sandbox."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slipway.engine import shim
from slipway.engine.invocation import leads_elsewhere, without_proxy
from slipway.engine.project import Project
from slipway.engine.stacks import SandboxEngine
from slipway.sandbox import IN_SANDBOX_SHELL
from spec.errors import SlipwayError

if TYPE_CHECKING:
    from slipway.cli.offline import Sandbox


@dataclass(frozen=True)
class Variables:
    """Changes to an environment."""

    set: Mapping[str, str]
    unset: tuple[str, ...]
    """The user's variables that point outside the sandbox, such as AWS_PROFILE."""

    def script(self) -> str:
        """The changes as lines for sh, bash and zsh, with every value quoted."""
        lines = [f"unset {name}" for name in self.unset]
        lines += [f"export {name}={shlex.quote(value)}" for name, value in self.set.items()]
        return "".join(f"{line}\n" for line in lines)


def account(sandbox: Sandbox, project: Project, stack: str | None) -> Mapping[str, str]:
    """Credentials of a stack's account, so that AWS tools see the stack's resources.

    Args:
        sandbox: The running sandbox.
        project: The checkout.
        stack: Stack whose account to use; by default the first stack of the checkout.

    Raises:
        SlipwayError: There is no stack file.
        ConfigurationError: The stack file is wrong.
    """
    from slipway.cli.settings import checked  # noqa: PLC0415 - `slipway --help` needs none of it
    from slipway.sandbox.aws.credentials import credentials  # noqa: PLC0415

    names = [stack] if stack else project.stack_names[:1]
    if not names:
        msg = f"{project.stacks} has no stack file, so there is no account to use: add Pulumi.<stack>.yaml"
        raise SlipwayError(msg)
    owner = checked(project, names[0], strict=False).platform.account
    return credentials(sandbox.variables["AWS_ENDPOINT_URL"], owner.id, owner.region)


def enter(
    engine: SandboxEngine, sandbox: Sandbox, project: Project, user: Mapping[str, str], session: Mapping[str, str]
) -> Variables:
    """Create the checkout's stacks in the sandbox's backend; the variables with which a shell uses them.

    A stack whose file can't be copied is skipped with a warning, so that the others remain usable.

    Raises:
        SlipwayError: The engine can't create a stack.
    """
    for stack in project.stack_names:
        try:
            engine.prepare(project.stacks, stack)
        except SlipwayError as error:
            print(f"warning: {error}", file=sys.stderr)
    directory = shim.install(engine.overlay, engine.pulumi)
    return variables({**sandbox.variables, **session}, user, [str(directory)])


def variables(sandbox: Mapping[str, str], user: Mapping[str, str], directories: list[str]) -> Variables:
    """The changes that point a user's environment at the sandbox, with `directories` first on PATH."""
    changes = dict(without_proxy(user)) | dict(sandbox)
    path = shim.off_path(changes.get("PATH", user.get("PATH", os.defpath)))
    changes["PATH"] = os.pathsep.join([*directories, path])
    changes[IN_SANDBOX_SHELL] = "1"
    removed = tuple(sorted(name for name in user if leads_elsewhere(name) and name not in changes))
    return Variables(dict(sorted(changes.items())), removed)

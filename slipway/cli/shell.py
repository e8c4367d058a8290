"""What `eval "$(slipway sandbox env)"` makes of a shell: one in which plain `pulumi up -s dev` works on the sandbox."""

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
    """Variables of the user that would lead elsewhere, such as AWS_PROFILE."""

    def script(self) -> str:
        """The same as lines for sh, bash and zsh, with every value quoted."""
        lines = [f"unset {name}" for name in self.unset]
        lines += [f"export {name}={shlex.quote(value)}" for name, value in self.set.items()]
        return "".join(f"{line}\n" for line in lines)


def account(sandbox: Sandbox, project: Project, stack: str | None) -> Mapping[str, str]:
    """Credentials of a stack's account, so that AWS tools see what the stack made.

    Args:
        sandbox: The sandbox, running.
        project: The checkout.
        stack: Whose account; that of the first stack of the checkout where not given.

    Raises:
        SlipwayError: There is no stack file.
        ConfigurationError: The stack file is wrong.
    """
    from slipway.cli.settings import checked  # noqa: PLC0415 - `slipway --help` needs none of it
    from slipway.sandbox.aws.credentials import credentials  # noqa: PLC0415

    names = [stack] if stack else project.stack_names[:1]
    if not names:
        msg = f"{project.stacks} has no stack file, so there is no account to be: add Pulumi.<stack>.yaml"
        raise SlipwayError(msg)
    owner = checked(project, names[0], strict=False).platform.account
    return credentials(sandbox.variables["AWS_ENDPOINT_URL"], owner.id, owner.region)


def enter(
    engine: SandboxEngine, sandbox: Sandbox, project: Project, user: Mapping[str, str], session: Mapping[str, str]
) -> Variables:
    """Make the stacks of the checkout in the sandbox's backend, and say what a shell must have to use them.

    A stack whose file can't be copied is left out, with a warning: it must not keep the others from use.

    Raises:
        SlipwayError: The engine can't make a stack.
    """
    for stack in project.stack_names:
        try:
            engine.prepare(project.stacks, stack)
        except SlipwayError as error:
            print(f"warning: {error}", file=sys.stderr)
    directory = shim.install(engine.overlay, engine.pulumi)
    return variables({**sandbox.variables, **session}, user, [str(directory)])


def variables(sandbox: Mapping[str, str], user: Mapping[str, str], directories: list[str]) -> Variables:
    """The changes that turn a user's environment to the sandbox, `directories` first on PATH."""
    changes = dict(without_proxy(user)) | dict(sandbox)
    path = shim.off_path(changes.get("PATH", user.get("PATH", os.defpath)))
    changes["PATH"] = os.pathsep.join([*directories, path])
    changes[IN_SANDBOX_SHELL] = "1"
    gone = tuple(sorted(name for name in user if leads_elsewhere(name) and name not in changes))
    return Variables(dict(sorted(changes.items())), gone)

"""For the user's shell: the variables of the sandbox.

`eval "$(slipway sandbox env)"` sets up a shell in which a plain `pulumi up -s dev` works on the sandbox.
"""

import argparse
import json
import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sandbox import IN_SANDBOX_SHELL
from sandbox.aws.client import credentials
from slipway.cli import offline
from slipway.cli.check import checked
from slipway.cli.offline import Sandbox
from slipway.engine import shim
from slipway.engine.invocation import leads_elsewhere, without_proxy
from slipway.engine.project import Project, find
from slipway.engine.stacks import SandboxEngine
from spec.errors import SlipwayError, fail


@dataclass(frozen=True)
class Variables:
    """Changes to an environment."""

    set: Mapping[str, str]
    unset: tuple[str, ...]  # the user's variables that point outside the sandbox, such as AWS_PROFILE

    def script(self) -> str:
        """The changes as lines for sh, bash and zsh, with every value quoted."""
        lines = [f"unset {name}" for name in self.unset]
        lines += [f"export {name}={shlex.quote(value)}" for name, value in self.set.items()]
        return "".join(f"{line}\n" for line in lines)


def env(options: argparse.Namespace) -> int:
    """Print the variables."""
    sandbox = offline.require_running()
    project = find(Path.cwd())
    session = account(sandbox, project, options.stack)
    found = enter(sandbox.engine(os.environ), sandbox, project, os.environ, session)
    print(f"{json.dumps(dict(found.set), indent=2)}\n" if options.json else found.script(), end="")
    return 0


def account(sandbox: Sandbox, project: Project, stack: str | None) -> Mapping[str, str]:
    """Credentials of a stack's account, so that AWS tools see the stack's resources.

    Args:
        stack: Stack whose account to use; by default the first stack of the checkout.

    Raises:
        SlipwayError: There is no stack file.
        ConfigurationError: The stack file is wrong.
    """
    names = [stack] if stack else project.stack_names[:1]
    if not names:
        fail(f"{project.stacks} has no stack file, so there is no account to use: add Pulumi.<stack>.yaml")
    owner = checked(project, names[0], strict=False).platform.account
    return credentials(sandbox.variables["AWS_ENDPOINT_URL"], owner.id, owner.region)


def enter(
    engine: SandboxEngine, sandbox: Sandbox, project: Project, user: Mapping[str, str], session: Mapping[str, str]
) -> Variables:
    """Create the checkout's stacks in the sandbox's backend; the variables with which a shell uses them.

    A stack whose file can't be copied is skipped with a warning, so that the others remain usable.
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

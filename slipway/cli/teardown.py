"""`slipway destroy STACK` on AWS: what the cluster's controllers made goes with the stack."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from slipway.engine.invocation import Operation, Request
from slipway.engine.protection import removes_all
from spec.errors import EXIT_REFUSED, SlipwayError

if TYPE_CHECKING:
    from spec.settings.platform import Platform


def wanted(request: Request) -> bool:
    """Whether the whole stack is removed; a part of it may leave the cluster, which keeps its controllers."""
    return request.operation is Operation.DESTROY and removes_all(request)


def destroy(
    request: Request,
    platform: Platform,
    run: Callable[[Request], int],
    ask: Callable[[str], bool],
    *,
    delete_volumes: bool,
) -> int:
    """Ask, then remove the stack; the exit code."""
    # Imports boto3 and Kubernetes, which no other command on AWS needs.
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

    from slipway.account.context import session  # noqa: PLC0415
    from slipway.teardown.access import connect  # noqa: PLC0415
    from slipway.teardown.destroy import Teardown  # noqa: PLC0415

    name = platform.cluster_name
    question = (
        f"Remove the nodes of Karpenter, load balancers and unmounted volumes of cluster {name} first, "
        "before the engine lists the rest?"
    )
    if not request.yes and "--yes" not in request.extra and not ask(question):
        print("nothing was changed", file=sys.stderr)
        return EXIT_REFUSED
    client = session(platform.account.region)
    try:
        return Teardown(
            platform=platform,
            client=client,
            connect=lambda: connect(client("eks"), name, platform.account.region),
            run=run,
            say=lambda text: print(text, file=sys.stderr, flush=True),
            delete_volumes=delete_volumes,
        ).destroy(request)
    except (BotoCoreError, ClientError) as error:
        first = str(error).partition("\n")[0]
        msg = f"AWS does not answer as expected: {first}. What is done is done; fix it and run the command again"
        raise SlipwayError(msg) from error

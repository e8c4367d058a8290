"""Removing what `leftovers` finds, with the patience that AWS needs: a load balancer's interfaces go minutes later."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import botocore.exceptions

from slipway.teardown.leftovers import Leftover, Search, find, remove

POLL: Final = 15.0
PATIENCE: Final = 600.0
"""Seconds. Interfaces of a deleted load balancer remain for some minutes, and keep its security groups."""


def sweep(
    search: Search,
    wanted: Callable[[Leftover], bool],
    say: Callable[[str], None],
    *,
    seconds: float = PATIENCE,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> list[Leftover]:
    """Remove the wanted leftovers, again until they are gone; all that remains, wanted or not.

    Args:
        search: Where to look.
        wanted: Which of them to remove.
        say: Reports each removal once.
        seconds: The longest time to wait.
        sleep: Waits.
        clock: Seconds since some moment.
    """
    began = clock()
    said: set[Leftover] = set()
    while True:
        left = find(search)
        chosen = [one for one in left if wanted(one)]
        for one in chosen:
            if one not in said:
                say(f"removing {one}")
                said.add(one)
            try:
                remove(search.client, one)
            except botocore.exceptions.ClientError as error:
                if clock() - began >= seconds:
                    say(f"{one} stays: {error}")
        if not chosen or clock() - began >= seconds:
            return find(search) if chosen else left
        sleep(POLL)

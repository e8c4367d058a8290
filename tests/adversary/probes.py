"""All probes, of both sets."""

from typing import Final

from tests.adversary import independent
from tests.adversary.changes import CHANGES as KNOWN_CHANGES
from tests.adversary.commits import COMMITS as KNOWN_COMMITS
from tests.adversary.probe import Change, Commit, Probe, Request, Visit
from tests.adversary.receivers import CHANGES as RECEIVERS
from tests.adversary.requests import REQUESTS as KNOWN_REQUESTS
from tests.adversary.takeovers import CHANGES as TAKEOVERS

REQUESTS: Final[tuple[Request, ...]] = (*KNOWN_REQUESTS, *independent.REQUESTS, *independent.LEGITIMATE)
CHANGES: Final[tuple[Change, ...]] = (*KNOWN_CHANGES, *TAKEOVERS, *RECEIVERS, *independent.CHANGES)
COMMITS: Final[tuple[Commit, ...]] = (*KNOWN_COMMITS, *independent.COMMITTED)
VISITS: Final[tuple[Visit, ...]] = independent.VISITS
PROBES: Final[tuple[Probe, ...]] = (*REQUESTS, *CHANGES, *COMMITS, *VISITS)

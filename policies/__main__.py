"""Entry point of the pack. Constructing it starts a server and never returns, so nothing else is here."""

import os

from pulumi_policy import PolicyPack

from policies import pack

# The engine names the stack in the environment; a file given by --policy-pack-config overrides what follows from it.
PolicyPack(pack.NAME, policies=pack.policies(os.environ.get("PULUMI_STACK", "")))

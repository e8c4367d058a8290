"""Entry point of the pack. Its constructor starts a server and never returns, so this module does nothing else."""

from pulumi_policy import PolicyPack

from policies import pack, server

PolicyPack(pack.NAME, policies=server.policies())

"""Entry point of the pack. Constructing it starts a server and never returns, so nothing else is here."""

from pulumi_policy import PolicyPack

from policies import pack, server

PolicyPack(pack.NAME, policies=server.policies())

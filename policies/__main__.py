"""Entry point of the pack."""

from policies import server

server.serve()

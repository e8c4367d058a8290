"""`python -m tests.slipway.fit`: the tables of docs/guides/fit.md."""

from tests.slipway.fit.published import table

print(table("cases"), table("misses"), sep="\n\n")

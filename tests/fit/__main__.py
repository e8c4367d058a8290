"""`python -m tests.fit`: the tables of docs/guides/fit.md."""

from tests.fit.published import table

print(table("cases"), table("misses"), sep="\n\n")

"""What is to be built, as data and pure functions: every other package may import this one, and it imports none.

From the bottom: `catalog` (dated facts) and small pure modules, `settings` (a stack file, typed and checked), `pools`
(settings and catalog resolved), `teams` (shares of pools), `pricing` (what it costs). Nothing here imports pulumi.
"""

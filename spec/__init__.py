"""The specification of a platform, as data and pure functions. Every other package may import it; it imports none.

From the bottom: `catalog` (dated facts) and small pure modules, `settings` (a stack file, typed and checked), `pools`
(settings and catalog resolved), `teams` (shares of pools), `pricing` (cost estimate). Nothing here imports pulumi.
"""

"""Mutation testing: changes the source in small ways, and runs the tests that should notice.

`make mutants` takes a sample of all possible changes, so a run takes minutes. A mutant that no test notices shows what
no test asserts, which coverage can't show. The modules:

    sites       which places of a file may be changed, and why others may not
    operators   what is changed in such a place
    source      the mutants of a file, a change as text, its diff
    sample      the same mutants for the same seed
    selection   which tests should notice a change of a module
    copies      the copies of the tree in which mutants run
    trial       one run of pytest, with a time-out
    verdict     killed, survived, timed out, or not measured
    report      lines, rate and diffs

docs/adr/0052-mutation-testing.md says why this is no library.
"""

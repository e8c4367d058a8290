"""Running the Pulumi CLI: how it is called, what it is given, how it is stopped, and what its state says.

    invocation   arguments and environment of one run, as data
    process      running it: streamed output, Ctrl-C, exit code
    project      the checkout that a command works on
    stackfiles   the sandbox's copies of the stack files
    stacks       the stacks of the sandbox's backend
    locks        whose lock is on a stack, and whether its owner is still there
    state        what stands, and what is protected
    shim         the `pulumi` that `slipway sandbox env` puts on PATH

Nothing here imports the SDK or the sandbox.
"""

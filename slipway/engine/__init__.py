"""Running the Pulumi CLI: its arguments and environment, how it is stopped, and how its plans and state are read.

    invocation   arguments and environment of one run, as data
    process      running it: streamed output, Ctrl-C, exit code
    project      the checkout that a command works on
    commits      the project's files at another commit
    stackfiles   the sandbox's copies of the stack files
    stacks       the stacks of the sandbox's backend
    guard        a run's free space
    stored       the state of a backend in a folder, and what the engine keeps of earlier ones
    locks        which process holds the lock of a stack, and whether it is still running
    state        the resources of a stack, and which are protected
    history      the settings of a stack's last update
    plan         what a run would replace or delete
    stateful     resource types that keep state
    gate         refuses a plan that would lose state
    protection   refuses a destroy of protected resources
    shim         the `pulumi` that `slipway sandbox env` puts on PATH

Nothing here imports the SDK or the sandbox.
"""

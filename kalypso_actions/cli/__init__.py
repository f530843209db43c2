"""The command line: build the runtime of a command, run it, and catch its errors.

    $ kalypso render dev --gitops ../gitops@dev

`command_list` names each command with its module; `command` makes the options from the model of the
inputs, prints the document, and gives the exit code: 0 success; 1 problems found; 2 wrong usage or
inputs.
"""

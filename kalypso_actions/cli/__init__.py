"""The command line: options from the models of the inputs, one printer of each document, one catch.

    $ kalypso render dev --gitops ../gitops@dev

`command_list` describes each command and names the module of its class. The exit code is 0 for
success, 1 for problems, and 2 for wrong usage or inputs.
"""

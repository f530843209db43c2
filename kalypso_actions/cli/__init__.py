"""The command line: builds what a command needs, runs it, and is the only place that catches.

Exit codes: 0 done; 1 problems found; 2 wrong usage or inputs.

main          where a run begins and ends
app           the Typer app
command_list  every command in a line; its module is imported when it is run
failure       how a run ends that an error has ended
interruption  what Ctrl-C and a cancelled job leave behind
speaking      what all commands share
options       options made of the inputs of a command
surroundings  what the commands of the chain and doctor find around them

init, doctor, render, validate, template, sandbox, demo, set_up
              the command of this name
chain         the commands of the promotion chain
local         what render and validate share
"""

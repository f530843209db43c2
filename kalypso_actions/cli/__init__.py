"""The command line: build the runtime of a command, run it, and catch its errors.

Exit codes: 0 success; 1 problems found; 2 wrong usage or inputs.

main          the entry point
app           the Typer app
command_list  all commands; each is imported only when it runs
error_report  the report of an error that ends a run
interruption  Ctrl-C and cancelled jobs
output        standard output, standard error, and the options about them
options       options made from a command's inputs
runtime       the runtime of init, doctor and the promotion chain

init, doctor, render, validate, template, sandbox, demo, set_up
              the command of this name
chain         the commands of the promotion chain
local         shared by render and validate
"""

"""The command line: build the runtime of a command, run it, and catch its errors.

Exit codes: 0 success; 1 problems found; 2 wrong usage or inputs.

main            the entry point
app             the Typer app
job             run a command of the promotion chain as in a job
command_list    all commands; each is imported only when it runs
command_imports import the module of a command
lazy_group      a group of commands that imports a command when it is called
error_report    the report of an error that ends a run
interruption    Ctrl-C and cancelled jobs
own_process     hide this process from the programs that it starts
streams         standard output, standard error, and the log of calls
output          the options about output
pager           show lines, through a pager if they do not fit
options         options made from a command's inputs
json_option     the option `--json`
completion      complete values in a shell
help_ends       the end of each command's help
runtime         the runtime of init, doctor and the promotion chain
github_inputs   the inputs and the runtime of other commands that read from GitHub

init, doctor, preview, render, validate, template, diff, explain, schemas, status,
report, sandbox, demo, set_up, check_pages, validate_workload
                the command of this name
chain           the commands of the promotion chain
app_commands    the group `kalypso app`
app_render      the command `kalypso app render`
local           shared by render and validate
local_result    print the result of render or validate
validate_watch  `kalypso validate --watch`
"""

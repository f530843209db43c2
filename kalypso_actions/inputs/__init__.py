"""The inputs of each command: a model checks them before the command reads anything.

chain               inputs that actions of the promotion chain have in common
ci, cd, schedule, notify, check_promote, poll, start_schedule
                    the inputs of one command of the chain; none imports another
preview             preview, and the action that comments for it
validate_workload   the action validate-workload
check_pages         the action check-pages
set_up              the action set-up
local               render, validate, template, explain and others on a person's machine
app                 the commands of an application's repositories
diff, doctor, demo, init, sandbox, status
                    the inputs of one command
values              types of inputs: durations, percentages, lists, commits
paths               paths, URLs and branches
reading             sources of the chain's inputs: options, the action, the environment
checking            values → the model of a command
"""

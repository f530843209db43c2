"""What each command does: read, plan by the stages, write last.

registry    the commands of the promotion chain, each in a line
runtime     what the commands share: connections, inputs of an environment, starts, labels
ci, cd, schedule, check_promote, poll, notify, start_schedule    the promotion chain
init, doctor                                                     a control plane's set-up
render, validate, template                                       on a person's machine
demo, sandbox, set_up                                            trials, and the set-up of a job
"""

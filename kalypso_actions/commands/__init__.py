"""The commands: each reads, plans by the stages, and writes last.

registry    the commands of the promotion chain, with their permissions
shared      what several commands use: connections, reading, starts, carrying writes out
ci, cd, schedule, check_promote, poll, notify, start_schedule    the promotion chain
preview, preview_comment                                         pull requests of people
init, doctor                                                     a control plane's set-up
render, validate, template, diff, schemas                        on a person's machine
explain, status, report, check_pages                             questions about a fleet
app                                                              an application's repositories
demo, sandbox, set_up                                            trials, and the set-up of a job
"""

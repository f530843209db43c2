"""A snapshot of repositories → what one run would write, and everything that is wrong with it.

    plan = make_plan(snapshot, options, scheduler, progress)
    plan.trees, plan.problems, plan.warnings

Planning is pure: it uses neither the network nor the clock nor the file system, and the same
snapshot gives the same plan.
"""

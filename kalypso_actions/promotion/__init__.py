"""The rules by which a commit of main passes through the environments.

Commands look up facts, and these functions decide: values in, values out.

    decision = advance(current, commit, relation=relation, promoted_from="ci", allow_rollback=False)
    status = statuses.promoted("dev")
"""

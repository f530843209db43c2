"""Breaks of the rules of promotion, each with the story or table that should notice."""

from __future__ import annotations

from typing import Final

from tools.mutants.breaks import (
    CLIENTS,
    COMMANDS,
    COMPLIANCE,
    GITOPS,
    PROMOTION,
    Break,
    case,
    story,
)

PROMOTION_BREAKS: Final = (
    Break(
        "ci starts every environment that no annotation names",
        f"{PROMOTION}/environments.py",
        "    if len(unnamed) == 1:",
        "    if unnamed:",
        (case("promotion/decisions", "first_environments"),),
    ),
    Break(
        "a circle of environments is no error",
        "kalypso_actions/validation.py",
        "    diagnostics.problems += environment_circles(environments)\n",
        "",
        (story("first_environments", "ci_starts_nothing_with_a_circle"),),
    ),
    Break(
        "a claim needs no base-repo.yaml",
        f"{COMMANDS}/check_promote/verify_request.py",
        "    problem = never_named(request, environment, reading, environments, context)\n",
        "    problem = None\n",
        (story("claims", "a_commit_that_still_waits_for_its_approval"),),
    ),
    Break(
        "a claim needs no sources.json",
        f"{COMMANDS}/check_promote/verify_request.py",
        "        if tree.contradicts(request.promoted_commit):\n",
        "        if not tree:\n",
        (story("claims", "an_upstream_merge_that_moved_the_tracking_file_alone"),),
    ),
    Break(
        "a rollback that is not merged yet stops no promotion",
        f"{COMMANDS}/check_promote/watch.py",
        "        return self._left()\n",
        "        return None\n",
        (case("commands/chain/withheld", "check_promote_reads_base_repo_first"),),
    ),
    Break(
        "cd does not look again at the environment before",
        f"{COMMANDS}/cd/rollback_check.py",
        "return self._rollbacks[state.head] or self._of_origin()",
        "return self._rollbacks[state.head]",
        (case("commands/chain/withheld", "a_commit_that_the_environment_before_has_withdrawn"),),
    ),
    Break(
        "an old start brings back what was rolled back",
        f"{PROMOTION}/rollbacks.py",
        "        promoted_commit == commit or not main.contains(",
        "        not main.contains(",
        (case("promotion/rollbacks", "left_commits"),),
    ),
    Break(
        "what another environment named counts as a rollback",
        f"{PROMOTION}/rollbacks.py",
        ".intersection(frozenset().union(*within))",
        "",
        (case("promotion/rollbacks", "commits_left_before_or_after_a_branch_was_cut"),),
    ),
    Break(
        "what people changed by hand is merged over",
        f"{GITOPS}/merge_history.py",
        "search.before_era, now == then)",
        "search.before_era, True)",
        ("tests/gitops/test_merge_history.py::test_content_that_people_changed",),
    ),
    Break(
        "a bot closes for people",
        f"{GITOPS}/rejections.py",
        "        closing.by_bot or ",
        "        ",
        (story("taken_out", "a_close_by_a_bot_is_no_rejection"),),
    ),
    Break(
        "a file beside the workloads is looked at for ever",
        f"{COMMANDS}/schedule/result.py",
        "        digest,\n        again_at=plan",
        "        digest[::-1],\n        again_at=plan",
        (story("repairs", "a_file_beside_the_workloads_starts_one_run"),),
    ),
    Break(
        "no start is recorded",
        f"{COMMANDS}/runtime/dispatch.py",
        "statuses.post(context.github, context.control_plane, commit, status, is_new=is_new)\n",
        "statuses.of_commits(context.github, context.control_plane, [commit])\n",
        (case("commands/chain/recorded_starts", "the_record_comes_first"),),
    ),
    Break(
        "a start is repeated for ever",
        f"{PROMOTION}/lost_starts.py",
        "    attempt = record.attempt + 1 if record.attempt < MOST_ATTEMPTS else 0\n",
        "    attempt = record.attempt + 1\n",
        (case("promotion/lost_starts", "overdue_starts"),),
    ),
    Break(
        "a lost start with force is repeated without it",
        f"{PROMOTION}/lost_starts.py",
        "    return Repair(attempt, record.force)\n",
        "    return Repair(attempt)\n",
        ("tests/promotion/test_lost_starts.py::test_overdue_starts",),
    ),
    Break(
        "a run that waits is doubled",
        f"{PROMOTION}/lost_starts.py",
        "    return all(\n        title_facts.get(",
        "    return not all(\n        title_facts.get(",
        (story("repairs", "a_run_that_waits_for_a_runner_is_not_doubled"),),
    ),
    Break(
        "a merge that nobody told of stays untold",
        f"{PROMOTION}/lost_starts.py",
        "    return has_failed and record is not None and not is_recorded\n",
        "    return False\n",
        (case("promotion/lost_starts", "lost_checks"),),
    ),
    Break(
        "a pull request that GitHub still thinks about conflicts",
        f"{GITOPS}/proposal_decision.py",
        "    if mergeable is False:\n",
        "    if not mergeable:\n",
        ("tests/gitops/test_proposal_decision.py::test_why_schedule_is_started",),
    ),
    Break(
        "what is merged while schedule pushes is not seen",
        f"{COMMANDS}/schedule/read.py",
        "        if gitops.changes_under(changes, state.tree.entries, now):\n",
        "        if not now:\n",
        (story("in_the_middle", "a_pull_request_is_merged_while_schedule_pushes_the_next_commit"),),
    ),
    Break(
        "a refused merge is not tried again",
        f"{GITOPS}/proposal_decision.py",
        '    return "can be merged now" if is_ready and not was_ready else ""\n',
        '    return "can be merged now" if was_ready else ""\n',
        (case("gitops/proposal_decision", "why_schedule_is_started"),),
    ),
    Break(
        "clusters of other paths fail the environment",
        f"{COMPLIANCE}/followed_paths.py",
        "    return name if name in tree.cluster_types else None\n",
        "    return name\n",
        (case("compliance/assessment", "other_paths_of_the_branch_do_not_count"),),
    ),
    Break(
        "anybody's start records count",
        f"{PROMOTION}/start_records.py",
        "    if status is None or not identity.is_of_chain(status.author):\n",
        "    if status is None:\n",
        (
            "tests/commands/chain/test_identities.py"
            "::test_poll_repeats_starts_that_our_own_accounts_recorded[mallory--False]",
        ),
    ),
    Break(
        "GitHub merges new content that nobody allowed it to merge",
        f"{GITOPS}/proposal_decision.py",
        '    if decision is not None and decision.action != "leave":\n        return True\n',
        "",
        (case("gitops/proposal_decision", "the_end_of_auto_merge"),),
    ),
    Break(
        "GitHub merges an earlier proposal after a run that failed",
        f"{COMMANDS}/schedule/auto_merge.py",
        "        for problem in disable_all(environment, context):\n"
        "            context.runtime.log(str(problem))\n",
        "",
        (
            "tests/commands/chain/test_schedule_auto_merge.py"
            "::test_a_run_that_fails_disables_it[base]",
        ),
    ),
    Break(
        "GitHub merges a proposal whose description a person has rewritten",
        f"{COMMANDS}/runtime/auto_merge.py",
        "        fits = gitops.may_be_own_branch(head, environment)\n",
        "        fits = False\n",
        (
            "tests/commands/chain/test_schedule_auto_merge.py"
            "::test_a_description_that_a_person_has_rewritten[blocked-kalypso/]",
        ),
    ),
    Break(
        "GitHub merges a newer commit while cd rolls back",
        f"{COMMANDS}/cd/promote.py",
        "        warnings += _disable_auto_merges(inputs, context) if goes_back else ()\n",
        "",
        (
            case(
                "commands/chain/schedule_auto_merge",
                "cd_warns_of_what_it_disabled_before_a_conflict",
            ),
        ),
    ),
    Break(
        "a pull request of another workflow is taken for ours",
        f"{CLIENTS}/github/pull_requests.py",
        "    if identity.wrote(author, is_marked=marked):\n",
        "    if identity.wrote(author):\n",
        (
            "tests/commands/chain/test_identities.py"
            "::test_a_pull_request_of_another_workflow_is_not_edited[]",
        ),
    ),
    Break(
        "a refused push of unsigned commits teaches nothing",
        f"{COMMANDS}/runtime/branch_writes.py",
        "        if not is_auto:\n            raise\n",
        "        raise\n",
        (
            "tests/commands/chain/test_signed_commits.py"
            "::test_a_classic_rule_requires_signatures[kalypso/*]",
        ),
    ),
    Break(
        "GitHub merges what schedule may not merge",
        f"{GITOPS}/proposal_decision.py",
        "    return is_own and not (decision is not None and merges)\n",
        "    return False\n",
        ("tests/gitops/test_proposal_decision.py::test_the_end_of_auto_merge",),
    ),
    Break(
        "a text of an application may have line breaks",
        "kalypso_actions/fleet/delivered_texts.py",
        "    if control:\n",
        "    if False:\n",
        ("tests/hostile/test_yaml_injection.py::test_a_text_is_one_line",),
    ),
    Break(
        "a text of an application may be a template",
        "kalypso_actions/fleet/delivered_texts.py",
        "    if template:\n",
        "    if False:\n",
        (
            "tests/hostile/test_templates_in_data.py"
            "::test_template_text_makes_the_registration_invalid",
        ),
    ),
    Break(
        "a text in the configuration may set the configuration",
        "kalypso_actions/rendering/go_manifests.py",
        "        return template.execute(data.copy_of_go(), budget=data.budget)\n",
        "        return template.execute(data.go, budget=data.budget)\n",
        ("tests/hostile/test_templates_in_data.py::test_texts_of_the_control_plane_set_nothing",),
    ),
    Break(
        "special characters may change the documents",
        "kalypso_actions/rendering/delivered.py",
        "    if not fault:\n        return outcome\n",
        "    if not isinstance(outcome, Failure):\n        return outcome\n",
        ("tests/hostile/test_yaml_injection.py::test_one_line_does_not_change_the_documents",),
    ),
    Break(
        "a text that fails is a fault of the platform",
        "kalypso_actions/rendering/delivered.py",
        '            code="registration-render",\n            is_delivered=True,\n',
        '            code="registration-render",\n',
        (
            "tests/hostile/test_one_stops_nobody.py::test_the_last_good_commit_renders",
            "tests/hostile/test_one_stops_nobody.py::test_a_text_that_a_template_refuses",
        ),
    ),
    Break(
        "a fault of a Template is one of all applications",
        "kalypso_actions/snapshot/registration_faults.py",
        "renderer.renders_other_texts(assignment, item.config, others[:_MAX_OTHERS])\n",
        "True\n",
        ("tests/hostile/test_one_stops_nobody.py::test_a_fault_of_a_template_stops_a_new_fleet",),
    ),
    Break(
        "a token that Azure refuses is kept",
        f"{CLIENTS}/resource_graph/authorization.py",
        "            self._renewable.forget_tokens()\n",
        "            pass\n",
        (
            case(
                "clients/resource_graph/with_sandbox",
                "a_token_that_is_refused_is_fetched_again_once",
            ),
        ),
    ),
)
"""Each break concerns one rule."""

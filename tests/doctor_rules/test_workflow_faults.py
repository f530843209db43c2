"""Facts in workflow files that break the chain, with their lines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from kalypso_actions.commands.shared.workflow_templates import (
    Place,
    faults_of_branches,
    faults_of_workflows,
    our_actions,
    workflow_files,
)
from kalypso_actions.doctor_rules import workflow_faults, workflow_steps, workflow_triggers
from kalypso_actions.doctor_rules.workflows import BranchWorkflows
from kalypso_actions.model.workflow_files import FOLDER, Placeholders
from kalypso_actions.onboarding.files import for_branch
from tests.breaks import breaks, returning

MARKS = Placeholders("acme/kalypso-actions", "v1", "acme/control-plane")


GROUP = "group: schedule ${{ inputs.environment }} ${{ inputs.force }} ${{ inputs.allow_removals }}"
WAIT = "write timeout-minutes: 360, as in our template, or give the action a shorter timeout"
VARIABLE = "write secrets.{0}; if the variable is set, revoke its value and delete it"
SECRET = "revoke it, store a new one as a secret of the repository, and write ${{ secrets.NAME }}"
WORD = "A1b2C3d4E5f6G7h8I9j0"
DOCUMENTS = ("base-repo.yaml", "config/environment.yaml", "cluster-types.yml")
CRON = "write minute, hour, day of the month, month and day of the week: 7,37 * * * *"
UNREVIEWED = (
    "add environment: ${{ inputs.environment }} to the job; if the merge of the pull request in the "
    "GitOps repository is enough approval, write the comment # kalypso.io/ignore: workflow-unprotected"
)


def told(
    texts: dict[str, str], place: Place = "control-plane", main: str = "main", branch: str = "main"
) -> list[tuple[str, str, str]]:
    """Return the place, the code and the advice of each fault."""
    files = BranchWorkflows("acme/control-plane", branch, texts, DOCUMENTS)
    return [
        (f"{item.where.path.removeprefix(FOLDER)}:{item.where.line}", item.code, item.advice)
        for item in faults_of_workflows(files, place, main, branches=("dev", "stage"))
        if item.where
    ]


def sound(place: Place = "control-plane", main: str = "main") -> dict[str, str]:
    files = workflow_files(place, MARKS)
    return files if place == "gitops" else for_branch(files, main)


@pytest.mark.parametrize("main", ["main", "trunk", "release/1"])
@pytest.mark.parametrize(
    ("place", "branch"),
    [("control-plane", ""), ("control-plane-environment", "dev"), ("gitops", "stage")],
)
def test_our_templates_have_no_faults(place: Place, branch: str, main: str) -> None:
    assert told(sound(place, main), place, main, branch or main) == []


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("ci", "branches: [main]", "branches: ['**']"),
        ("ci", "branches: [main]", "branches: ['m*', '!master']"),
        ("ci", "branches: [main]", "branches-ignore: [dev, stage]"),
        ("ci", "    branches: [main]\n", ""),
        ("poll", "7,37 * * * *", "*/5 * * * *"),
        ("cd", "      checks: read # the checks that a policy requires\n", ""),
        ("ci", "    permissions:\n      contents: read # without secrets; the App does everything else\n", "    permissions: {}\n"),
        ("rollback", "permissions: {}", "permissions: write-all"),
        ("schedule", "manifests: strict", "manifests: ${{ vars.MANIFESTS }}"),
        ("schedule", "secrets.KALYPSO_APP_PRIVATE_KEY", "secrets.PLATFORM_APP_KEY"),
        ("schedule", "secrets.KALYPSO_APP_PRIVATE_KEY", "secrets.Kalypso_app_private_key"),
        ("poll", "    timeout-minutes: 20", "    timeout-minutes: 20\n    snapshot: x\n    continue-on-error: true"),
        ("cd", "runs-on: ubuntu-latest", "runs-on: ${{ vars.RUNNER || 'ubuntu-latest' }}"),
        ("cd", "timeout-minutes: 90", "timeout-minutes: ${{ fromJSON('90') }}"),
        ("cd", "name: Promote", "name: ${{ format('{0} input.x', github.event.inputs.environment) }}"),
        ("schedule", "manifests: strict", "manifests: strict\n          of-a-later-version: x"),
        ("schedule", "name: Schedule", "name: Plan"),
        ("schedule", "runs-on: ubuntu-latest", "if: ${{ !cancelled() && github.ref_name == 'main' }}\n    runs-on: x"),
        ("poll", "7,37 * * * *", "*/5,7-9/2 0-23 1,31 JAN-dec Mon-FRI"),
        ("cd", "environment: ${{ inputs.environment }}\n    permissions", "environment: {name: prod}\n    permissions"),
        ("cd", "\n    environment: ${{ inputs.environment }}\n", "\n    # The merge approves. kalypso.io/ignore: workflow-unprotected\n"),
        ("cd", "needs.verify.outputs.waiting-for ==", "needs.verify.result == 'success' && needs.verify.outputs['Waiting-For'] =="),
        ("cd", "steps.verify.outputs.waiting-for }}", "steps.verify.outputs['Waiting-For'] }}\n      by: ${{ steps.verify.outcome }}"),
        ("check-promote", "\n    environment: ${{ inputs.environment }}\n", "\n    # kalypso.io/ignore: workflow-unprotected\n"),
        ("ci", "runs-on: ubuntu-latest", "if: github.ref == 'refs/heads/main' || github.ref == 'refs/heads/master'\n    runs-on: x"),
        ("ci", "runs-on: ubuntu-latest", "if: github.base_ref == 'MAIN' && github.ref != 'refs/heads/master'\n    runs-on: x"),
        ("ci", "runs-on: ubuntu-latest", "if: github.ref == 'refs/tags/v1'\n    runs-on: x"),
        ("ci", "runs-on: ubuntu-latest", "if: ${{ !(github.ref == 'refs/heads/old') }}\n    runs-on: x"),
        ("schedule", "runs-on: ubuntu-latest", "if: github.ref_name == 'dev'\n    runs-on: x"),
        ("ci", "push:\n", "push:\n    paths-ignore: ['docs/**', '**.md']\n"),
        ("ci", "push:\n", "push:\n    paths: ['**.y*ml', '!docs/**']\n"),
        ("ci", "push:\n", "push:\n    paths: ['*', '*/**']\n"),
        ("ci", "pull_request:\n", "pull_request:\n    types: [opened, synchronize, ready_for_review]\n"),
        ("check-promote", "timeout-minutes: 360", "timeout-minutes: 61"),
        ("check-promote", "timeout-minutes: 360", "timeout-minutes: ${{ fromJSON(vars.MINUTES) }}"),
        ("check-promote", "          next-environment:", "          timeout: 24h\n          next-environment:"),
        ("check-promote", "    timeout-minutes: 360 # another run continues to wait before that\n", ""),
        *(
            ("schedule", GROUP, f"group: {group}")
            for group in ("schedule-${{ inputs.environment }}", "${{ github.workflow }}-${{ github.event.inputs.environment }}", "${{ format('schedule-{0}', inputs['environment']) }}", "${{ toJSON(inputs) }}", "${{ github.run_id }}", "${{ env.GROUP }}", "schedule\n  queue: max")
        ),
        ("schedule", "environment: ${{ inputs.environment }}\n          force", "environment: dev\n          force"),
        ("schedule", f"{GROUP}\n  cancel-in-progress: false", "group: schedule ${{ inputs.environment }}\n  cancel-in-progress: true"),
        ("ci", "ci-${{ github.event.pull_request.number || github.sha }}", "${{ github.workflow }}-${{ github.ref }}"),
        ("poll", "group: poll", "group: ${{ github.workflow }}"),
        ("cd", "\n  cd:\n", "\n  cd:\n    concurrency: cd-${{ inputs.environment }}\n"),
        ("schedule", "${{ secrets.KALYPSO_APP_PRIVATE_KEY }}", "${{ vars.IS_NEW == 'true' && secrets.NEW_KEY || secrets.KALYPSO_APP_PRIVATE_KEY }}"),
        ("schedule", "${{ secrets.KALYPSO_APP_PRIVATE_KEY }}", "${{ vars.KALYPSO_APP_ID && secrets.KALYPSO_APP_PRIVATE_KEY }}"),
        ("schedule", "${{ vars.KALYPSO_APP_ID }}", "${{ secrets.KALYPSO_APP_ID }}"),
        *(
            ("schedule", "runs-on: ubuntu-latest", f"runs-on: {label}")
            for label in ("[self-hosted, linux, x64]", "ubuntu-latest-4-cores", "ubuntu-latest-m", "Ubuntu-Latest", "ubuntu-24.04-arm", "macos-15-xlarge", "ubuntu-20.04", "linux", "arc-runner-set", "{group: fleet, labels: ubuntu-24.04}", "ubuntu")
        ),
        *(("poll", "7,37 * * * *", cron) for cron in ("0 */12 * * *", "*/60 * * * *", "0 */6 * * MON-FRI", "0 8,16 * * *", "5/20 * * * *")),
        ("report", "23 2 * * *", "0 */24 * * SUN"),
        *(
            ("schedule", "jobs:", f"{line}\njobs:")
            for line in ("# token: ghp_xxxxxxxxxxxxxxxxxxxx", "# password: ${{ secrets.DB_PASSWORD1 }}", "env: {npm_config_registry: https://npm.acme.example}", "# https://x-access-token:${TOKEN1}@github.com/acme/cp", "# id-token: write")
        ),
        ("schedule", "runs-on: ubuntu-latest", "strategy: {matrix: {a: [1]}}\n    runs-on: ${{ matrix.a }}"),
    ],
)  # fmt: skip
def test_a_file_that_merely_differs(name: str, old: str, new: str) -> None:
    assert told(edited(name, old, new)) == []


def edited(name: str, old: str, new: str, place: Place = "control-plane") -> dict[str, str]:
    texts, path = sound(place), f"{FOLDER}{name}.yaml"
    assert old in texts[path]
    return {**texts, path: texts[path].replace(old, new)}


@breaks(
    "filters of paths are not read",
    returning(workflow_triggers._changes, ()),
    case="documents that do not count",
)
@breaks(
    "a cron means what it seems",
    returning(workflow_triggers._rare_runs, ()),
    case="hours in place of minutes",
)
@breaks(
    "GitHub never cancels a job that waits",
    returning(workflow_steps._short_limits, ()),
    case="too short for the wait",
)
@breaks(
    "environments may share a concurrency group",
    returning(workflow_steps._shared_groups, ()),
    case="one group",
)
@breaks(
    "a key may be a variable",
    returning(workflow_steps._variables_with_secrets, ()),
    case="key from a variable",
)
@breaks(
    "every label has a runner",
    returning(workflow_steps._unknown_runners, ()),
    case="misspelled runner",
)
@breaks(
    "a workflow file may have a secret",
    returning(workflow_faults._secrets, ()),
    case="pasted",
)
@breaks(
    "outputs of actions and jobs are not looked up",
    returning(workflow_faults._members, ()),
    case="an output",
)
@breaks(
    "a condition may name any branch",
    returning(workflow_triggers._conditions, ()),
    case="branch that is not there",
)
@breaks(
    "nobody needs to be asked",
    returning(workflow_steps._without_reviewers, ()),
    case="nobody is asked",
)
@breaks(
    "forks get the secrets",
    returning(workflow_triggers._pull_requests_with_secrets, ()),
    case="forks",
)
@breaks(
    "every line of cron is good", returning(workflow_triggers._fault_of_cron, ""), case="cron *"
)
@breaks(
    "a job may lack permissions",
    returning(workflow_steps._permissions, ()),
    case="may start nothing",
)
@breaks(
    "ci and schedule may check different things",
    returning(workflow_steps._differing_options, ()),
    case="ci checks other manifests",
)
@breaks(
    "every key of a workflow file is known",
    returning(workflow_steps._unknown_keys, ()),
    case="misspelled key",
)
@breaks(
    "a filter of other branches starts ci",
    returning(workflow_triggers._excluding, None),
    case="another branch",
)
@pytest.mark.parametrize(
    ("name", "old", "new", "code", "advice"),
    [
        pytest.param("ci", "push:\n    branches: [main]", "push:\n    branches: [master]", "not-started", "write branches: [main]", id="another branch"),
        pytest.param("ci", "push:\n    branches: [main]", "push:\n    branches-ignore: ['m*']", "not-started", "write branches: [main]", id="an ignored branch"),
        pytest.param("ci", "push:\n    branches: [main]", "push:\n    branches: ['**', '!main']", "not-started", "write branches: [main]", id="an excluded branch"),
        pytest.param("ci", "push:\n    branches: [main]", "push:\n    tags: ['v*']", "not-started", "write branches: [main]", id="tags alone"),
        pytest.param("ci", "  push:\n    branches: [main]\n", "", "not-started", "add push below on:, as in our template", id="no push"),
        pytest.param("cd", "workflow_dispatch:", "workflow_call:", "not-started", "add workflow_dispatch below on:, as in our template", id="a called workflow"),
        pytest.param("cd", "      promoted_commit_id:", "      promoted_commit:", "input-unknown", "rename promoted_commit to promoted_commit_id", id="another input"),
        pytest.param("cd", "needs: verify", "needs: verfy", "expression-unknown", "write verify", id="no such job"),
        pytest.param("schedule", "/actions/schedule@", "/actions/shedule@", "input-unknown", "did you mean schedule?", id="no such action"),
        pytest.param("schedule", "    inputs:\n", "    inputs:\n      approver: {required: true}\n", "input-unknown", "give it a default, or remove required: true", id="a required input"),
        pytest.param("schedule", "inputs.environment }}", "input.environment }}", "expression-unknown", "write inputs.environment", id="input"),
        pytest.param("schedule", "inputs.environment }}", "inputs.enviroment }}", "expression-unknown", "write inputs.environment", id="an unknown input"),
        pytest.param("schedule", "vars.KALYPSO_APP_ID", "var.KALYPSO_APP_ID", "expression-unknown", "write vars.KALYPSO_APP_ID", id="var"),
        pytest.param("schedule", "secrets.KALYPSO_APP_PRIVATE_KEY }}", "secret.KALYPSO_APP_PRIVATE_KEY }}", "expression-unknown", "write secrets.KALYPSO_APP_PRIVATE_KEY", id="secret"),
        pytest.param("cd", "if: needs.verify", "if: need.verify", "expression-unknown", "write needs.verify", id="a condition"),
        pytest.param("cd", "if: needs.verify", "if: needs.verifi", "expression-unknown", "write needs.verify", id="an unknown job"),
        pytest.param("cd", "outputs.waiting-for ==", "outputs.waiting_for ==", "expression-unknown", "write needs.verify.outputs.waiting-for", id="an output that no job has"),
        pytest.param("cd", "outputs.waiting-for ==", "outputs['later'] ==", "expression-unknown", "known are waiting-for", id="an output in brackets"),
        pytest.param("cd", "verify.outputs.waiting-for ==", "verify.output.waiting-for ==", "expression-unknown", "write needs.verify.outputs", id="a misspelled part of a job"),
        pytest.param("cd", "waiting-for: ${{ steps", "waiting: ${{ steps", "expression-unknown", "write needs.verify.outputs.waiting", id="a renamed output"),
        pytest.param("cd", "\n    environment: ${{ inputs.environment }}\n", "\n", "unprotected", UNREVIEWED, id="nobody is asked"),
        pytest.param("check-promote", "\n    environment: ${{ inputs.environment }}\n", "\n", "unprotected", UNREVIEWED, id="nobody is asked whether it goes on"),
        pytest.param("rollback", "\n    environment: ${{ inputs.environment }}\n", "\n", "unprotected", UNREVIEWED, id="nobody is asked whether it goes back"),
        pytest.param("cd", "steps.verify.outputs.waiting-for", "steps.verify.outputs.waiting_for", "expression-unknown", "write steps.verify.outputs.waiting-for", id="an output that the action has not"),
        pytest.param("cd", "steps.verify.outputs.waiting-for", "steps.verify.outputs['hold']", "expression-unknown", "known are changed, environment-commit, pull-request-number, pull-request-url, waiting-for", id="an output of another action"),
        pytest.param("cd", "steps.verify.outputs.waiting-for", "steps.verfy.outputs.waiting-for", "expression-unknown", "write steps.verify", id="an unknown step of an output"),
        pytest.param("preview", "if: ${{ !cancelled() }}", "if: steps.own.outputs.verdict", "expression-unknown", "known are none", id="a step without id"),
        pytest.param("ci", "runs-on:", "if: github.ref == 'refs/heads/master'\n    runs-on:", "not-started", "known are refs/heads/dev, refs/heads/main, refs/heads/stage", id="a branch that is not there"),
        pytest.param("ci", "runs-on:", "if: ${{ 'main' == github.ref }}\n    runs-on:", "not-started", "write 'refs/heads/main'", id="a branch without refs/heads/"),
        pytest.param("ci", "runs-on:", "if: github.event.pull_request.base.ref == 'mian'\n    runs-on:", "not-started", "write 'main'", id="a misspelled branch"),
        pytest.param("schedule", "        with:", "        if: github.ref_name == 'stages' && true\n        with:", "not-started", "write 'stage'", id="a step for another branch"),
        pytest.param("ci", "pull_request:", "pull_request_target:", "unprotected", "write pull_request, as in our template", id="secrets for forks"),
        pytest.param("preview", "pull_request:", "pull_request_target:", "unprotected", "write pull_request, as in our template", id="the preview of forks"),
        *(
            pytest.param("poll", '"7,37 * * * *"', f'"{line}"', "invalid", CRON, id=f"cron {line}")
            for line in ("0 7,37 * * * *", "7,37 * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "@hourly", "*/0 * * * *", "30-10 * * * *", "* * * * L", "7,,37 * * * *", "")
        ),
        pytest.param("poll", "- cron:", "- crom:", "invalid", "write - cron: with five fields", id="no cron"),
        pytest.param("poll", "- cron:", "  cron:", "invalid", "write - cron: below schedule:", id="no list of crons"),
        pytest.param("preview-comment", "[Preview]", "[Previw]", "not-started", "write Preview", id="an unknown workflow"),
        pytest.param("preview", "name: Preview\n", "name: Preview of a change\n", "not-started", "write Preview of a change", id="a renamed workflow"),
        pytest.param("schedule", "manifests: strict", "manifest: strict", "input-unknown", "did you mean manifests?", id="a misspelled input"),
        pytest.param("ci", "app-id:", "app_id:", "input-unknown", "did you mean app-id?", id="an input with _"),
        pytest.param("ci", "jobs:", "jobs: {", "invalid", "correct the file", id="no YAML"),
        pytest.param("schedule", "          environment: ${{ inputs.environment }}\n", "", "input-unknown", "add environment below with:", id="a required input is missing"),
        pytest.param("schedule", "          environment: $", "          enviroment: $", "input-unknown", "did you mean environment?", id="a required input is misspelled"),
        pytest.param("schedule", "manifests: strict", "manifests: stict", "input-unknown", "did you mean strict? The input manifests is one of warn, strict", id="a misspelled value"),
        pytest.param("schedule", "manifests: strict", "manifests: strict\n          commit-by: rest", "input-unknown", "the input commit-by is one of auto, git, api", id="another value"),
        pytest.param("ci", "manifests: strict", "manifests: warn", "input-unknown", "write manifests: strict, or change manifests of schedule: the files get what schedule has", id="ci checks other manifests"),
        pytest.param("preview", "          manifests: strict\n", "", "input-unknown", "write manifests: strict, or change manifests of schedule: the files get what schedule has", id="preview leaves the option out"),
        pytest.param("ci", "manifests: strict", "manifests: strict\n          missing-values: error", "input-unknown", "write missing-values: warn, or change missing-values of schedule: the files get what schedule has", id="ci is stricter than schedule"),
        pytest.param("schedule", "manifests: strict", "manifests: strict\n          namespace-scheme: legacy", "input-unknown", "remove it, or write it for ci and preview, too: it renames all namespaces, and clusters delete the old ones with all that is in them", id="schedule alone renames namespaces"),
        pytest.param("cd", "      actions: write # starts schedule.yaml\n", "", "permission-missing", "add actions: write below permissions: of this job", id="cd may start nothing"),
        pytest.param("cd", "      contents: write # writes base-repo.yaml to the environment's branch\n", "      contents: read\n", "permission-missing", "add contents: write below permissions: of this job", id="cd may write nothing"),
        pytest.param("rollback", "    permissions:\n      actions: write", "    env:\n      actions: write", "permission-missing", "add contents: write, statuses: write, actions: write below permissions: of this job", id="a job without permissions"),
        pytest.param("preview-comment", "      pull-requests: write # the comment\n", "", "permission-missing", "add pull-requests: write below permissions: of this job", id="no comment"),
        pytest.param("check-promote", "timeout-minutes: 10\n", "timeout_minutes: 10\n", "invalid", "write timeout-minutes", id="a misspelled key of a job"),
        pytest.param("poll", "runs-on:", "run-on:", "invalid", "write runs-on", id="a misspelled machine"),
        pytest.param("poll", "    runs-on: ubuntu-latest\n", "", "invalid", "add runs-on:", id="no machine"),
        pytest.param("poll", "        with:", "        shel: bash\n        with:", "invalid", "write shell", id="a misspelled key of a step"),
        pytest.param("poll", "        with:", "        run: ls\n        with:", "invalid", "write one of the two", id="a step with two tasks"),
        pytest.param("poll", "permissions: {}\n\n", "permission: {}\n\n", "invalid", "write permissions", id="a misspelled key of the file"),
        pytest.param("schedule", "secrets.KALYPSO_APP_PRIVATE_KEY", "secrets.KALYPSO_APP_PRIVAT_KEY", "expression-unknown", "did you mean secrets.KALYPSO_APP_PRIVATE_KEY?", id="a misspelled secret"),
        pytest.param("schedule", "secrets.KALYPSO_APP_PRIVATE_KEY", "secrets['kalypso_app_privat_key']", "expression-unknown", "did you mean secrets.KALYPSO_APP_PRIVATE_KEY?", id="a misspelled secret in brackets"),
        pytest.param("poll", "vars.KALYPSO_APP_ID", "vars.KALYPSO_APPID", "expression-unknown", "did you mean vars.KALYPSO_APP_ID?", id="a misspelled variable"),
        pytest.param("ci", "push:\n", "push:\n    paths: ['templates/**']\n", "not-started", "remove paths:, as in our template", id="documents that do not count"),
        pytest.param("ci", "push:\n", "push:\n    paths-ignore: ['*', 'config/**']\n", "not-started", "remove paths-ignore:, as in our template", id="ignored documents"),
        pytest.param("ci", "pull_request:\n", "pull_request:\n    paths: ['**', '!config/*.yaml']\n", "not-started", "remove paths:, as in our template", id="pull requests of some documents"),
        pytest.param("ci", "pull_request:\n", "pull_request:\n    types: [opened, labeled]\n", "not-started", "add synchronize to types:, or remove types:", id="no new commits"),
        pytest.param("poll", "7,37 * * * *", "0 */30 * * *", "not-started", "for every 30 minutes, write */30 * * * *", id="hours in place of minutes"),
        pytest.param("poll", "7,37 * * * *", "*/90 * * * *", "not-started", "correct the step", id="ninety minutes"),
        pytest.param("report", "23 2 * * *", "0 0-8/12 * * *", "not-started", "for every 12 minutes, write */12 * * * *", id="a step beyond its span"),
        *(
            pytest.param("poll", "7,37 * * * *", cron, "not-started", "write 7,37 * * * *, as in our template", id=f"poll at {cron}")
            for cron in ("0 0 * * *", "0 */24 * * *", "30 6 * * MON-FRI", "0 */2 1 * *", "*/30 9 * * SUN")
        ),
        pytest.param("check-promote", "timeout-minutes: 360", "timeout-minutes: 15", "cancelled", WAIT, id="too short for the wait"),
        pytest.param("check-promote", "timeout-minutes: 360", "timeout-minutes: 60", "cancelled", WAIT, id="as long as the wait"),
        pytest.param("check-promote", "      - name: Wait", "      - timeout-minutes: 20\n        name: Wait", "cancelled", WAIT, id="a step that is too short"),
        *(
            pytest.param("schedule", GROUP, f"group: {group}", "cancelled", "add ${{ inputs.environment }} to the group", id=f"one group {group}")
            for group in ("schedule", "${{ github.workflow }}", "${{ github.workflow }}-${{ github.ref }}", "'${{ format(''{0}-x'', github.repository) }}'")
        ),
        pytest.param("schedule", "    timeout-minutes: 60", "    timeout-minutes: 60\n    concurrency: schedule", "cancelled", "add ${{ inputs.environment }} to the group", id="one group of a job"),
        pytest.param("schedule", f"{GROUP}\n  cancel-in-progress: false", "group: schedule\n  queue: max\n  cancel-in-progress: true", "cancelled", "add ${{ inputs.environment }} to the group", id="one group that cancels"),
        pytest.param("cd", "permissions: {}\n\n", "permissions: {}\n\nconcurrency: cd\n\n", "cancelled", "remove concurrency:, as in our template", id="one group of cd"),
        pytest.param("preview", "preview-${{ github.event.pull_request.number || github.sha }}", "preview", "cancelled", "add ${{ github.event.pull_request.number || github.sha }} to the group", id="one group of pull requests"),
        pytest.param("schedule", "secrets.KALYPSO_APP_PRIVATE_KEY", "vars.KALYPSO_APP_PRIVATE_KEY", "expression-unknown", VARIABLE.format("KALYPSO_APP_PRIVATE_KEY"), id="a key from a variable"),
        pytest.param("report", "secrets.KALYPSO_APP_PRIVATE_KEY", "vars['PEM']", "expression-unknown", VARIABLE.format("PEM"), id="another variable"),
        pytest.param("ci", "${{ secrets.KALYPSO_APP_PRIVATE_KEY }}", "${{ secrets.PEM || vars.PEM }}", "expression-unknown", VARIABLE.format("PEM"), id="a variable in place of a secret"),
        *(
            pytest.param("schedule", "runs-on: ubuntu-latest", f"runs-on: {label}", "cancelled", f"did you mean {near}?", id=f"misspelled runner {label}")
            for label, near in (("ubuntu-lastest", "ubuntu-latest"), ("[ubunut-latest]", "ubuntu-latest"), ("ubuntu_latest", "ubuntu-latest"), ("Ubuntu-2404", "ubuntu-24.04"), ("windos-2025", "windows-2025"), ("[self_hosted, linux]", "self-hosted"), ("{group: g, labels: [ubuntu-latst]}", "ubuntu-latest"))
        ),
        *(
            pytest.param("schedule", "jobs:", f"{line}\njobs:", "secret", SECRET, id=f"pasted {line[:9]}")
            for line in ("# -----BEGIN RSA PRIVATE KEY-----", f"# ghp_{WORD}", f"env: {{X: github_pat_{WORD}}}", f"# token: '{WORD}'", f"# https://u:{WORD}@github.com", "env:\n  DB_PASSWORD: tops3cret # for now")
        ),
    ],
)  # fmt: skip
def test_what_breaks_the_chain(name: str, old: str, new: str, code: str, advice: str) -> None:
    texts = edited(name, old, new)
    faults = told(texts)
    assert {(fault[1], fault[2]) for fault in faults} == {(f"workflow-{code}", advice)}
    assert all(int(place.rpartition(":")[2]) > 1 for place, _, _ in faults)


@pytest.mark.parametrize(
    ("place", "name", "old", "new", "branch"),
    [
        ("control-plane-environment", "start-schedule", "branches-ignore: [", "branches-ignore: [dev, ", "dev"),
        ("gitops", "check-promote", "branches-ignore: [", "branches-ignore: ['s**', ", "stage"),
    ],
)  # fmt: skip
def test_the_push_of_a_branch(place: Place, name: str, old: str, new: str, branch: str) -> None:
    texts = sound(place)
    path = f"{FOLDER}{name}.yaml"
    items = re.sub(
        r"branches-ignore:\n((?: +- .*\n)+)",
        lambda match: f"branches-ignore: [{', '.join(re.findall(r'- (.*)', match[1]))}]\n",
        texts[path],
    )
    texts[path] = items.replace(old, new)
    assert texts[path] != items
    (fault,) = told(texts, place, branch=branch)
    assert fault[1:] == ("workflow-not-started", f"let the filter match {branch}")


def test_a_file_with_the_other_suffix() -> None:
    texts = sound()
    for name in ("ci", "schedule"):
        texts[f"{FOLDER}{name}.yml"] = texts.pop(f"{FOLDER}{name}.yaml")
    advice = f"rename it: git mv {FOLDER}schedule.yml {FOLDER}schedule.yaml"
    assert [fault[1:] for fault in told(texts)] == [("workflow-not-started", advice)]
    texts[f"{FOLDER}cd.yaml"] += "          schedule-workflow: schedule.yml\n"
    assert told(texts) == []


def test_workflows_of_others_are_not_judged() -> None:
    text = "on: {push: {branches: [master]}}\njobs: {a: {if: input.x, steps: [{run: ls}]}}\n"
    assert told({**sound(), f"{FOLDER}own.yaml": text}) == []


def test_the_inputs_that_actions_have() -> None:
    known = our_actions()
    actions = Path(__file__).parents[2] / "actions"
    for name, inputs in known.items():
        file = actions / name / "action.yml"
        if file.exists():
            assert {*yaml.safe_load(file.read_text())["inputs"]} <= inputs.inputs, name
    assert {"ci", "cd", "schedule", "check-promote", "poll"} <= known.keys()


def of_branches(
    main: dict[str, str], **environments: dict[str, str]
) -> list[tuple[str, str, str, str]]:
    """Return the place, the code, the text and the advice of the faults of several branches.

    The environments are dev and stage, whichever branches are at hand.
    """
    own = (BranchWorkflows("acme/cp", name, texts) for name, texts in environments.items())
    return [
        (f"{item.where.branch}:{item.where.path}", item.code, item.message, item.advice)
        for item in faults_of_branches(
            BranchWorkflows("acme/cp", "main", main), own, ("dev", "stage")
        )
        if item.where
    ]


def test_a_condition_with_a_branch_that_is_not_at_hand() -> None:
    main = edited(
        "schedule", "runs-on: ubuntu-latest", "if: github.ref_name == 'stage'\n    runs-on: x"
    )
    assert of_branches(main, dev=sound("control-plane-environment")) == []


@breaks(
    "a workflow that others start may be missing",
    returning(workflow_steps.missing_starts, []),
    case="renamed",
)
@pytest.mark.parametrize(
    ("name", "other", "start", "advice"),
    [
        pytest.param("schedule", "render", "cd.yaml", "rename it: git mv {0}render.yaml {0}schedule.yaml; or add schedule-workflow: render.yaml", id="renamed"),
        pytest.param("cd", "deploy", "check-promote.yaml", "rename it: git mv {0}deploy.yaml {0}cd.yaml; or add cd-workflow: deploy.yaml", id="cd renamed"),
        pytest.param("check-promote", "", "poll.yaml", "restore {0}check-promote.yaml, or write it by kalypso init --update-workflows", id="missing"),
    ],
)  # fmt: skip
def test_a_workflow_that_others_start(name: str, other: str, start: str, advice: str) -> None:
    """One finding, also if several files and branches start the workflow."""
    texts, environment = sound(), sound("control-plane-environment")
    text = texts.pop(f"{FOLDER}{name}.yaml")
    if other:
        texts[f"{FOLDER}{other}.yaml"] = text
    ((place, code, message, told_advice),) = of_branches(texts, dev=environment)
    assert (place, code) == (f"main:{FOLDER}{start}", "workflow-not-started")
    assert f"cannot start {name}.yaml" in message
    assert told_advice == advice.format(FOLDER)


def test_a_workflow_that_is_started_by_another_name() -> None:
    texts = sound()
    texts[f"{FOLDER}deploy.yaml"] = texts.pop(f"{FOLDER}cd.yaml")
    for starter in ("ci", "check-promote", "poll"):
        texts[f"{FOLDER}{starter}.yaml"] = texts[f"{FOLDER}{starter}.yaml"].replace(
            "          app-id:", "          cd-workflow: deploy.yaml\n          app-id:"
        )
    assert of_branches(texts) == []


def test_a_branch_whose_pushes_start_nothing() -> None:
    environment = sound("control-plane-environment")
    without = {path: text for path, text in environment.items() if "start-schedule" not in path}
    (fault,) = of_branches(sound(), dev=environment, stage=without)
    assert fault[:2] == ("stage:", "workflow-not-started")
    assert fault[3].startswith(f"git checkout dev -- {FOLDER}start-schedule.yaml")
    assert len(of_branches(sound(), dev=without, stage=without)) == 2
    assert of_branches(sound(), dev={}, stage={}) == []  # poll alone does it


@pytest.mark.parametrize("folder", [".github/workflow/", ".github/", f"{FOLDER}kalypso/"])
def test_a_folder_that_github_does_not_read(folder: str) -> None:
    texts = {path.replace(FOLDER, folder): text for path, text in sound().items()}
    faults = of_branches(texts, dev=sound("control-plane-environment"))
    assert [(place, code) for place, code, _, _ in faults] == [
        (f"main:{folder}cd.yaml", "workflow-invalid")
    ]
    assert faults[0][3] == f"git mv {folder}*.y*ml {FOLDER}"


@pytest.mark.parametrize(
    ("old", "new"),
    [("environment: $", "enviroment: $"), ("manifests: strict", "manifests: stict")],
)
def test_what_makes_every_run_fail_is_an_error(old: str, new: str) -> None:
    texts = edited("schedule", f"          {old}", f"          {new}")
    files = BranchWorkflows("acme/control-plane", "main", texts)
    assert [item.level for item in faults_of_workflows(files, "control-plane", "main")] == ["error"]


def test_a_filter_of_paths_of_a_gitops_repository() -> None:
    """A promotion may change .github/tracking alone."""
    texts = edited(
        "check-promote", "push:\n", "push:\n    paths: ['*/**', '!.github/**']\n", "gitops"
    )
    assert [fault[1:] for fault in told(texts, "gitops", branch="stage")] == [
        ("workflow-not-started", "remove paths:, as in our template")
    ]


def test_one_run_for_all_environments_may_have_any_group() -> None:
    """Its jobs may not."""
    text = """on: {schedule: [{cron: 0 3 * * *}]}
concurrency: nightly
jobs:
  all:
    strategy: {matrix: {environment: [dev, stage]}}
    runs-on: ubuntu-latest
    steps:
      - uses: acme/kalypso-actions/actions/schedule@v1
        with: {environment: "${{ matrix.environment }}", manifests: strict}
"""
    own = f"{FOLDER}nightly.yaml"
    assert told({**sound(), own: text}) == []
    text = text.replace("    runs-on", "    concurrency: nightly\n    runs-on")
    assert [fault[:2] for fault in told({**sound(), own: text})] == [
        ("nightly.yaml:6", "workflow-cancelled")
    ]


def test_a_secret_is_told_without_its_text() -> None:
    texts = edited(
        "ci", "app-private-key: ${{ secrets.KALYPSO_APP_PRIVATE_KEY }}", f"token: {WORD}"
    )
    (finding,) = of_branches(texts)
    assert finding[1] == "workflow-secret"
    assert WORD not in "".join(finding)


def test_a_long_line_costs_nothing() -> None:
    line = f"# {WORD}{' ' * 200_000}x"
    assert told(edited("ci", "jobs:", f"{line}\njobs:")) == []


NEW, OLD = "a" * 40, "b" * 40


@breaks(
    "versions of actions may differ",
    returning(workflow_faults.differing_versions, ()),
    case="half",
)
@pytest.mark.parametrize(
    ("most", "cd", "environment", "messages"),
    [
        pytest.param(OLD, NEW, OLD, ["x/kalypso-actions@aaaaaaa in cd.yaml, but most files have x/kalypso-actions@bbbbbbb"], id="half an update"),
        pytest.param(f"{OLD} # v1.1", f"{NEW} # v1.1", "v1", ["x/kalypso-actions@aaaaaaa (v1.1) in cd.yaml, but most files have x/kalypso-actions@bbbbbbb (v1.1)"], id="half, with a comment"),
        pytest.param("v2", "v1", "v1.4", ["x/kalypso-actions@v1 in cd.yaml, but most files have x/kalypso-actions@v2", "x/kalypso-actions@v1.4 in preview.yaml of dev, start-schedule.yaml of dev, but most files have x/kalypso-actions@v2"], id="half, by tags"),
        pytest.param("v1", "v1.2.3", f"{NEW} # v1.3", [], id="one major version"),
        pytest.param(NEW, NEW, f"{NEW} # v1.3", [], id="one commit"),
        pytest.param("v1", "v10", "v1", ["x/kalypso-actions@v10 in cd.yaml, but most files have x/kalypso-actions@v1"], id="half, of a long number"),
    ],
)  # fmt: skip
def test_versions_of_actions(most: str, cd: str, environment: str, messages: list[str]) -> None:
    def at(texts: dict[str, str], reference: str) -> dict[str, str]:
        pattern = r"\S+/kalypso-actions(\S*)@v1\b"
        return {
            path: re.sub(pattern, rf"x/kalypso-actions\1@{reference}", text)
            for path, text in texts.items()
        }

    main = at(sound(), most)
    main[f"{FOLDER}cd.yaml"] = at(sound(), cd)[f"{FOLDER}cd.yaml"]
    own = at(sound("control-plane-environment"), environment)
    found = of_branches(main, dev=own)
    assert {code for _, code, _, _ in found} <= {"workflow-versions-differ"}
    assert [text.partition(":")[0] for _, _, text, _ in found] == messages


def test_what_aliases_repeat_is_told_once() -> None:
    name, of_github = f"{FOLDER}ci.yaml", "runs-on: ubuntu-latest"
    lists = "".join(f"      a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))
    repeated = f"env:\n      a0: &a0 ['${{{{ foo.x }}}}']\n{lists}      circle: &c [*c]\n"
    texts = sound()
    assert of_github in texts[name]
    texts[name] = texts[name].replace(of_github, f"{repeated}    {of_github}")
    line = texts[name][: texts[name].index("a0:")].count("\n") + 1
    places = {place for place, code, _ in told(texts) if code == "workflow-expression-unknown"}
    assert places == {f"ci.yaml:{line}"}


@pytest.mark.parametrize("deep", ["[" * 200_000, "{a: " * 50_000, "{a: [" * 50_000])
def test_a_file_whose_lists_are_too_deep(deep: str) -> None:
    texts = {**sound(), f"{FOLDER}ci.yaml": sound()[f"{FOLDER}ci.yaml"] + "x: " + deep}
    assert [code for _, code, _ in told(texts)] == ["workflow-invalid"]

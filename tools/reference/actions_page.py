"""The page of all actions, with purpose, example, inputs, outputs and permissions of each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kalypso_actions.commands.check_pages import PERMISSIONS as PAGES_PERMISSIONS
from kalypso_actions.commands.registry import ACTIONS as COMMANDS
from kalypso_actions.commands.registry import Permission
from kalypso_actions.inputs.chain import ChainInputs
from tools.reference.actions import ACTIONS, Action, Input, declared_inputs
from tools.reference.tables import table

PAGE: Final = """\
# Actions

Written by `make docs` from the code. Complete workflows to copy are in
[workflows-templates](../../workflows-templates).

Each action is one step: it finds Python 3.11 or later, installs the locked dependencies once per
job, and runs the command of its name. It runs on Linux, macOS and Windows, in job containers with
glibc, Python, git and bash, and on GitHub Enterprise Server.

An empty input counts as not given. A boolean is `true` or `false`; anything else is an error. The
inputs of one step together hold about 128 kB on Linux and 30 kB on Windows, the limits of one
environment variable. A command exits with 0 (done, perhaps with warnings), 1 (there are problems,
and nothing was written) or 2 (wrong inputs).

The permissions are those of the GitHub App in the repositories where it is installed. A workflow
grants them to the job's own token by `permissions:`, for its own repository only.

## Common inputs

All actions have these inputs, but `validate-workload` has only `wheelhouse`, and the actions of an
application have `source-repository` in place of `control-plane`:

"""

SUMMARIES: Final = {
    "ci": """\
Checks a commit of main in every environment: after a push, in pull requests and in merge queues.
After a push to main without problems, it starts `cd` for the first environments.
""",
    "cd": """\
Writes a commit of main to `base-repo.yaml` on an environment's branch and starts `schedule`.
""",
    "schedule": """\
Renders an environment and opens a pull request with the result in the GitOps repository.
""",
    "check-promote": """\
Waits until the clusters comply with what was merged, and starts `cd` for the next environments.
""",
    "notify": """\
Runs in the GitOps repository after a push to an environment's branch and starts `check-promote`
in the control plane.
""",
    "observe": """\
Records what each environment should run, and what its clusters run, since when; `kalypso where`
answers from it: see [what runs where](../guide/record.md). Run it hourly in the control plane, with
a GitHub environment whose identity may read the clusters and that asks no reviewer.
""",
    "poll": """\
Starts `schedule` for environments whose inputs have changed, such as a registered repository, and
repeats lost starts of workflows.
""",
    "rollback": """\
Brings an environment back to its last good commit of main, in one commit that also holds it there,
and starts `schedule`. Only a person may start it; see [roll back](../guide/runbooks.md#roll-back).
""",
    "preview": """\
Shows what a pull request to the control plane, or a merge group, changes in each environment: on
the pull request, in the job's summary, and as a commit status. See the page
[on previews](../guide/preview.md).
""",
    "preview-comment": """\
Comments on a pull request from a fork or of Dependabot, whose own preview may not: it takes the
artifact of that preview. It runs in a workflow that the event `workflow_run` starts.
""",
    "app-ci": """\
Records version and image of a commit of an application's source on the commit, after the build has
pushed the image, and starts `app-deploy` for the first environments.
""",
    "app-deploy": """\
Renders an application from its source and its configs, and proposes the tree to the environment's
branch of its GitOps repository: one pull request for each environment, which it keeps up to date.
""",
    "app-preview": """\
Renders an application before and after a pull request, of the source for each environment, of the
configs for that of its branch, and shows what changes: a status, a comment, and files for an
artifact. It proposes nothing.
""",
    "app-notify": """\
Runs in the GitOps repository or in the configs of an application after a push to an environment's
branch, and starts the check or the deployment in the source. It reads no repository.
""",
    "app-poll": """\
Starts `app-deploy` and `app-check` where the present state of an application asks for it: for new
configs, for a merge that nobody has told, and for starts that led to no run.
""",
    "app-check": """\
Waits until the clusters run what was merged into an application's GitOps branch, and starts
`app-deploy` for the next environments. The branch and the records on the source say what was
merged: a promotion goes on, a changed configuration, a rollback and manual changes do not. With
`platform-gitops`, the platform's reconcilers say which clusters run it: that needs read access to
the platform's GitOps repository, and the role Reader on the clusters' subscriptions.
""",
    "validate-workload": """\
Checks the Workloads of an application's repository before the platform team sees them; see the page
[for application teams](../guide/applications.md). It reads only the files of the checkout.
""",
    "set-up": """\
Puts `kalypso` on the `PATH` of the job's next steps and leaves the job's own Python alone. With
`run`, it also runs one command, without a shell; the other inputs are those of the command.
""",
}

TITLES: Final = {"set-up": "Any other command"}

EXAMPLES: Final = {
    "ci": {},
    "cd": {
        "environment": "${{ inputs.environment }}",
        "commit": "${{ inputs.promoted_commit_id }}",
    },
    "rollback": {"environment": "${{ inputs.environment }}"},
    "schedule": {"environment": "${{ inputs.environment }}"},
    "check-promote": {
        "environment": "${{ inputs.environment }}",
        "promoted-commit": "${{ inputs.promoted_commit_id }}",
        "gitops-commit": "${{ inputs.commit_id }}",
        "azure-client-id": "${{ vars.AZURE_CLIENT_ID }}",
        "azure-tenant-id": "${{ vars.AZURE_TENANT_ID }}",
        "azure-scopes": "${{ vars.AZURE_SCOPES }}",
    },
    "notify": {"control-plane": "our/control-plane"},
    "poll": {},
    "observe": {
        "azure-client-id": "${{ vars.AZURE_CLIENT_ID }}",
        "azure-tenant-id": "${{ vars.AZURE_TENANT_ID }}",
        "azure-scopes": "${{ vars.AZURE_SCOPES }}",
    },
    "preview": {"out": "kalypso-preview"},
    "preview-comment": {"file": "kalypso-preview/preview.json"},
    "app-ci": {
        "version": "0.0.1-${{ github.run_number }}",
        "image-tag": "${{ needs.build.outputs.tag }}",
    },
    "app-deploy": {
        "environment": "${{ inputs.environment }}",
        "configs-repository": "${{ vars.CONFIGS_REPO }}",
        "gitops-repository": "${{ vars.MANIFESTS_REPO }}",
    },
    "app-preview": {
        "configs-repository": "${{ vars.CONFIGS_REPO }}",
        "gitops-repository": "${{ vars.MANIFESTS_REPO }}",
        "out": "kalypso-preview",
    },
    "app-notify": {"source-repository": "${{ vars.SRC_REPO }}", "pushed": "configs"},
    "app-poll": {
        "configs-repository": "${{ vars.CONFIGS_REPO }}",
        "gitops-repository": "${{ vars.MANIFESTS_REPO }}",
    },
    "app-check": {
        "environment": "${{ inputs.environment }}",
        "configs-repository": "${{ vars.CONFIGS_REPO }}",
        "gitops-repository": "${{ vars.MANIFESTS_REPO }}",
        "platform-gitops": "${{ vars.PLATFORM_GITOPS }}",
        "azure-client-id": "${{ vars.AZURE_CLIENT_ID }}",
        "azure-tenant-id": "${{ vars.AZURE_TENANT_ID }}",
        "azure-scopes": "${{ vars.AZURE_SCOPES }}",
    },
    "validate-workload": {"path": "workload"},
    "set-up": {"run": "validate ."},
}

APP: Final = {
    "app-id": "${{ vars.KALYPSO_APP_ID }}",
    "app-private-key": "${{ secrets.KALYPSO_APP_PRIVATE_KEY }}",
}

WITHOUT_APP: Final = {"cd", "rollback", "preview-comment", "set-up", "validate-workload"}
"""Actions that need no App: they write nothing outside of the repository of the job."""


def actions_text() -> str:
    """Return a page with a section for each action."""
    common = input_table(declared_inputs(ChainInputs))
    order = {name: position for position, name in enumerate(EXAMPLES)}
    actions = sorted(ACTIONS, key=lambda action: order[action.command])
    return PAGE + "\n".join([common, *map(section, actions)])


def section(action: Action) -> str:
    """Return an action's summary, an example, and its tables."""
    name = action.command
    title = TITLES.get(name, name)
    return f"## {title}\n\n{SUMMARIES[name]}\n{example(action)}\n{tables_of(action)}"


def example(action: Action) -> str:
    """Return the step of a workflow that runs the action."""
    folder = f"/{action.path.removesuffix('/action.yml')}" if "/" in action.path else ""
    given = EXAMPLES[action.command] | ({} if action.command in WITHOUT_APP else APP)
    lines = [f"    {name}: {value}" for name, value in given.items()]
    uses = f"- uses: kalypso-actions/kalypso-actions{folder}@v0"
    return "\n".join(["```yaml", uses, "  with:", *lines, "```\n"])


def tables_of(action: Action) -> str:
    """Return tables of its own inputs, its outputs, and the permissions of its command."""
    common = {item.name for item in declared_inputs(ChainInputs)}
    own = [option for option in action.inputs if option.name not in common or option.required]
    outputs = [(f"`{name}`", text) for name, text in action.outputs.items()]
    parts = [input_table(own), table(("output", ""), outputs)]
    command = COMMANDS.get(action.command)
    if command:
        parts.append(permission_table(command.permissions))
    if command and command.verify_only:
        needed = (f"{right} in the {place}" for place, right in map(_right, command.verify_only))
        parts.append(f"With `verify-only`: {', '.join(needed)}.\n")
    if action.command == "set-up":
        parts.append(f"For `run: check-pages`:\n\n{permission_table(PAGES_PERMISSIONS)}")
    return "\n".join(parts)


def input_table(inputs: Iterable[Input]) -> str:
    """Return a table with name, default and description of each."""
    rows = (
        (
            f"`{item.name}`{', required' if item.required else ''}",
            f"`{item.default}`" if item.default else "",
            item.description,
        )
        for item in inputs
    )
    return table(("input", "default", ""), rows)


def permission_table(permissions: Iterable[Permission]) -> str:
    """Return a table of permissions, with the place and the purpose of each."""
    rows = (
        (right, place, f"{permission.reason}{f' ({permission.only})' if permission.only else ''}")
        for permission in permissions
        for place, right in [_right(permission)]
    )
    return table(("permission", "in the", "because it"), rows)


def _right(permission: Permission) -> tuple[str, str]:
    return permission.place, f"`{permission.name}: {permission.level}`"

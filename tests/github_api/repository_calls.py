"""The calls of the clients about repositories, their settings, workflows and accounts."""

from __future__ import annotations

from typing import Final

from kalypso_actions.clients.github import overviews, repositories, workflows
from tests.github_api.call_sequences import FLEET
from tests.github_api.client_call import call

REPOSITORY_CALLS: Final = {
    "repositories.environments": call(
        lambda github, _: repositories.environments(github, FLEET), "GET R/environments"
    ),
    "repositories.variable": call(
        lambda github, scene: repositories.variable(github, FLEET, scene.environment(), "NEXT"),
        "GET R/environments/{environment_name}/variables/{name}",
    ),
    "repositories.site_is_public": call(
        lambda github, _: repositories.site_is_public(github, FLEET), "GET R", "GET R/pages"
    ),
    "overviews.read": call(
        lambda github, scene: overviews.read(
            github,
            FLEET,
            branches=["main", "nowhere"],
            commits=[scene.first, "e" * 40, "no id"],
            label="kalypso-failure",
        ),
        "POST /graphql",
    ),
    "repositories.id_of_name": call(
        lambda github, _: repositories.id_of_name(github, FLEET, FLEET), "GET R"
    ),
    "repositories.get": call(lambda github, _: repositories.get(github, FLEET), "GET R"),
    "repositories.settings": call(
        lambda github, _: repositories.settings(github, FLEET),
        "GET R/actions/secrets",
        "GET R/actions/organization-secrets",
        "GET R/actions/variables",
        "GET R/actions/organization-variables",
    ),
    "repositories.settings_of_environment": call(
        lambda github, scene: repositories.settings_of_environment(
            github, FLEET, scene.environment()
        ),
        "GET R/environments/{environment_name}/secrets",
        "GET R/environments/{environment_name}/variables",
    ),
    "repositories.settings_of_actions": call(
        lambda github, _: repositories.settings_of_actions(github, FLEET),
        "GET R/actions/permissions",
        "GET R/actions/permissions/workflow",
    ),
    "connection.identity": call(lambda github, _: github.identity(FLEET), "POST /graphql"),
    "connection.account": call(lambda github, _: github.account("acme"), "POST /graphql"),
    "workflows.states": call(
        lambda github, _: workflows.states(github, FLEET), "GET R/actions/workflows"
    ),
    "workflows.unfinished": call(
        lambda github, scene: [
            scene.run(),
            workflows.unfinished(github, FLEET, "poll.yaml"),
            workflows.unfinished(github, FLEET, "nothing.yaml"),
        ],
        "GET R/actions/workflows/{workflow_id}/runs",
    ),
    "workflows.dispatch": call(
        lambda github, scene: workflows.dispatch(
            github, FLEET, "poll.yaml", ref="main", inputs={"commit": scene.first}
        ),
        "POST R/actions/workflows/{workflow_id}/dispatches",
    ),
}

"""The calls of the clients about repositories, their settings, workflows and accounts."""

from __future__ import annotations

from typing import Final

from kalypso_actions.clients.github import (
    environments,
    overviews,
    pages,
    repositories,
    settings,
    viewer,
    workflows,
)
from tests.github_api.call_sequences import FLEET
from tests.github_api.client_call import call

REPOSITORY_CALLS: Final = {
    "environments.names": call(
        lambda github, _: environments.names(github, FLEET), "GET R/environments"
    ),
    "environments.variable": call(
        lambda github, scene: environments.variable(github, FLEET, scene.environment(), "NEXT"),
        "GET R/environments/{environment_name}/variables/{name}",
    ),
    "pages.is_public": call(
        lambda github, _: pages.is_public(github, FLEET), "GET R", "GET R/pages"
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
    "settings.of_repository": call(
        lambda github, _: settings.of_repository(github, FLEET),
        "GET R/actions/secrets",
        "GET R/actions/organization-secrets",
        "GET R/actions/variables",
        "GET R/actions/organization-variables",
    ),
    "settings.of_environment": call(
        lambda github, scene: settings.of_environment(github, FLEET, scene.environment()),
        "GET R/environments/{environment_name}/secrets",
        "GET R/environments/{environment_name}/variables",
    ),
    "settings.of_actions": call(
        lambda github, _: settings.of_actions(github, FLEET),
        "GET R/actions/permissions",
        "GET R/actions/permissions/workflow",
    ),
    "viewer.identity": call(lambda github, _: viewer.identity(github, FLEET), "POST /graphql"),
    "viewer.account": call(lambda github, _: viewer.account(github, "acme"), "POST /graphql"),
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

"""Whole commands: no secret in their output, files, or arguments of programs.

A run passes each of its secrets to the runner for masking; only the runner reads those lines. A
credential of git is in the environment of only one program: the one that talks to its server.
"""

from __future__ import annotations

import json
import re
import secrets as chance
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from kalypso_sandbox.azure import JobIdentity
from kalypso_sandbox.store import BranchRule
from tests.actions.organisation import RealClock
from tests.commands.app.scenes import propose
from tests.commands.app.shop import CONFIGS, SOURCE, Application
from tests.commands.app.shop import GITOPS as GITOPS_OF_WEB
from tests.commands.chain.founding import organisation
from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS, Job, Organisation
from tests.commands.chain.previews import newest
from tests.commands.chain.promotions import merge
from tests.secrets.recorded_programs import Ended, Observatory, Started
from tests.secrets.secret_forms import found

SLOW: Final = pytest.mark.slow
MASK: Final = "::add-mask::"
VARIABLE: Final = "GIT_CONFIG_VALUE_1"
REMOTE: Final = {"fetch", "ls-remote", "push"}
WEB_TOKEN: Final = re.compile(r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.")
"""A JSON Web Token: an App's, GitHub's assertions, Azure's access tokens."""


@dataclass
class Laboratory:
    """Acme, a way to run commands in it, and all its secrets."""

    acme: Organisation
    observatory: Observatory
    key: str
    app: str
    azure: Mapping[str, str]
    secrets: list[str] = field(default_factory=list)

    def everything(self) -> list[str]:
        """Return the given secrets, and the tokens that were created since."""
        return [*self.secrets, *self.acme.sandbox.store.tokens]

    def run(
        self,
        *arguments: str,
        inputs: Mapping[str, str],
        variables: Mapping[str, str] | None = None,
        code: str = "",
        job: Job | None = None,
    ) -> Ended:
        """Run a command with the inputs of its action."""
        environment = {
            **self.acme.job_environment(job or Job()),
            "KALYPSO_INPUTS": json.dumps(dict(inputs)),
            **(variables or {}),
        }
        return self.observatory.run(arguments, environment, code=code)


@pytest.fixture
def laboratory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Laboratory]:
    """Acme, with TLS if the parameter says so: Azure's library needs it to sign in."""
    with organisation(tmp_path, clock=RealClock(), tls=getattr(request, "param", False)) as acme:
        sandbox = acme.sandbox
        number, key = sandbox.create_app("acme")
        subject = f"repo:{CONTROL_PLANE}:environment:dev"
        secret = chance.token_urlsafe(30)
        application = sandbox.azure.register(subject, secret=secret)
        job = sandbox.azure.job_environment(
            sandbox.url, JobIdentity(CONTROL_PLANE, environment="dev")
        )
        azure = {
            "client": application.client_id,
            "tenant": sandbox.azure.tenant,
            "secret": secret,
            "url": sandbox.url,
            **job,
        }
        given = [acme.token, key, secret, job["ACTIONS_ID_TOKEN_REQUEST_TOKEN"]]
        observatory = Observatory(tmp_path / "observed")
        yield Laboratory(acme, observatory, key, str(number), azure, given)


def leaks(laboratory: Laboratory, ended: Ended) -> list[str]:
    """Return the places where a secret must not be, but is."""
    known = laboratory.everything()
    said = "\n".join(line for line in ended.output.splitlines() if not line.startswith(MASK))
    places = {"the output": said, "a file of the job": ended.files}
    places |= {f"{program.words}": " ".join(program.words) for program in ended.started}
    wrong = [
        f"{place}: {secret}"
        for place, text in places.items()
        for secret in [*found(known, text), *WEB_TOKEN.findall(text)]
    ]
    return [
        *wrong,
        *(
            f"{name} of {program.words}"
            for program in ended.started
            for name, value in program.environment.items()
            if found(known, value) and not (name == VARIABLE and _talks(ended, program))
        ),
    ]


def _talks(ended: Ended, program: Started) -> bool:
    """Tell whether a program is git's call of a server, or a child of it."""
    first = ended.by_itself(program)
    return first.name == "git" and bool(REMOTE & set(first.words))


def masked(ended: Ended) -> str:
    return "\n".join(line for line in ended.output.splitlines() if line.startswith(MASK))


def with_credential(ended: Ended) -> Sequence[Started]:
    return [program for program in ended.started if VARIABLE in program.environment]


# Credentials


def by_app(laboratory: Laboratory) -> dict[str, str]:
    return {"app-id": laboratory.app, "app-private-key": laboratory.key}


def by_token(laboratory: Laboratory) -> dict[str, str]:
    laboratory.secrets += ["glpat-0123456789abcdefghij", "ghp_0123456789abcdefghijklmnopqrstuvwxyz"]
    lines = (
        f"git.example.com=kalypso:{laboratory.secrets[-2]}\n"
        f"{laboratory.acme.url('acme')}=x-access-token:{laboratory.acme.token}\n"
    )
    return {"token": laboratory.acme.token, "git-credentials": lines}


Given = Callable[[Laboratory], dict[str, str]]


@pytest.mark.slow
@pytest.mark.parametrize("given", [by_token, by_app])
def test_the_chain(laboratory: Laboratory, given: Given) -> None:
    acme = laboratory.acme
    commit = acme.commit({"notes.txt": "a change"})
    inputs = given(laboratory)
    runs = {
        "ci": laboratory.run("ci", inputs={**inputs, "start-cd": "true"}),
        "cd": laboratory.run(
            "cd",
            inputs={
                **inputs,
                "environment": "dev",
                "commit": commit,
                "pre-deployment": "env | sort",
            },
        ),
        "schedule": laboratory.run(
            "schedule", inputs={**inputs, "environment": "dev", "auto-merge": "always"}
        ),
        "poll": laboratory.run("poll", inputs=inputs),
    }
    for name, ended in runs.items():
        assert ended.status == 0, ended.output
        assert leaks(laboratory, ended) == [], name
        assert with_credential(ended), name
        for secret in inputs.values():
            assert not found([secret], secret) or found([secret], masked(ended)), name
    assert acme.pulls(GITOPS, state="closed")


@pytest.mark.slow
@pytest.mark.parametrize("given", [by_token, by_app])
def test_an_application(laboratory: Laboratory, given: Given) -> None:
    acme, web = laboratory.acme, Application.found(laboratory.acme)
    job = Job(repository=SOURCE)
    commit = web.push()
    inputs = given(laboratory)
    places = {**inputs, "configs-repository": CONFIGS, "gitops-repository": GITOPS_OF_WEB}
    dev = {**places, "environment": "dev"}
    release = {"version": "1", "image-tag": "1@sha256:aaaaaaaa", "commit": commit}
    scan = {"scan": "env | sort; cat $KALYPSO_IMAGES", "auto-merge": "always"}
    told = {"source-repository": SOURCE, "pushed": "configs"}

    def run(name: str, given: dict[str, str], job: Job = job) -> tuple[str, Ended]:
        return name, laboratory.run("app", name, inputs=given, job=job)

    runs = [
        run("ci", {**inputs, **release}),
        run("deploy", {**dev, **scan}),
        run("check", {**dev, "verify-only": "true"}),
        run("poll", places),
    ]
    propose(web, {"src/a.txt": "1"})
    event = newest(acme)
    of_pull = Job(event.name, event.ref, event.commit, SOURCE, event.payload)
    configs = web.acme.commit({"west/values.yaml": ""}, "dev", CONFIGS)
    pushed = {"ref": "refs/heads/dev", "before": "1" * 40, "after": configs}
    of_push = Job("push", "refs/heads/dev", repository=CONFIGS, payload=pushed)
    runs += [run("preview", places, of_pull), run("notify", {**inputs, **told}, of_push)]
    for name, ended in runs:
        assert ended.status == 0, ended.output
        assert leaks(laboratory, ended) == [], name
        for secret in inputs.values():
            assert not found([secret], secret) or found([secret], masked(ended)), name
        assert with_credential(ended) or name == "notify"
    assert acme.pulls(GITOPS_OF_WEB, state="closed")


AZURE: Final[Mapping[str, Callable[[Mapping[str, str]], tuple[dict[str, str], dict[str, str]]]]] = {
    "an assertion": lambda azure: (
        {"azure-client-id": azure["client"], "azure-tenant-id": azure["tenant"]},
        {name: value for name, value in azure.items() if name.startswith("ACTIONS_")},
    ),
    "a client secret": lambda azure: (
        {
            "azure-credentials": json.dumps(
                {
                    "clientId": azure["client"],
                    "clientSecret": azure["secret"],
                    "tenantId": azure["tenant"],
                }
            )
        },
        {},
    ),
}
"""Inputs, and variables of the job."""


@pytest.mark.parametrize("laboratory", [True], indirect=True, ids=["tls"])
@pytest.mark.parametrize("name", ["an assertion", pytest.param("a client secret", marks=SLOW)])
def test_the_clusters(laboratory: Laboratory, name: str) -> None:
    inputs, variables = AZURE[name](laboratory.azure)
    merged = merge(laboratory.acme, None)
    ended = laboratory.run(
        "check-promote",
        inputs={
            "token": laboratory.acme.token,
            "environment": "dev",
            "gitops-commit": merged,
            "timeout": "10s",
            **inputs,
        },
        variables={**variables, "AZURE_AUTHORITY_HOST": laboratory.azure["url"]},
    )
    assert "compliant 2/2" in ended.output
    assert leaks(laboratory, ended) == []


def test_programs_that_azures_library_starts(laboratory: Laboratory) -> None:
    variables = {
        "GITHUB_TOKEN": laboratory.acme.token,
        "AZURE_TOKEN_CREDENTIALS": "dev",
        "KALYPSO_INPUTS": "",
        "KALYPSO_GIT_CREDENTIALS": f"git.example.com=kalypso:{laboratory.azure['secret']}",
        "KALYPSO_APP_PRIVATE_KEY": "",
    }
    merged = merge(laboratory.acme, None)
    options = ["--environment", "dev", "--gitops-commit", merged, "--timeout", "10s"]
    ended = laboratory.run("check-promote", *options, inputs={}, variables=variables)
    assert "az" in {program.name for program in ended.started}
    assert leaks(laboratory, ended) == []


def test_secrets_from_the_environment(laboratory: Laboratory) -> None:
    """A user's shell has secrets as variables, which no program inherits."""
    variables = {
        "GITHUB_TOKEN": laboratory.acme.token,
        "KALYPSO_GIT_CREDENTIALS": f"git.example.com=kalypso:{laboratory.azure['secret']}",
        "AZURE_CREDENTIALS": json.dumps({"clientSecret": laboratory.azure["secret"]}),
        "KALYPSO_INPUTS": "",
    }
    ended = laboratory.run("poll", inputs={}, variables=variables)
    assert ended.status == 0
    assert with_credential(ended)
    assert leaks(laboratory, ended) == []


def refused_push(laboratory: Laboratory) -> dict[str, str]:
    repository = laboratory.acme.sandbox.repository(CONTROL_PLANE)
    repository.rules = [BranchRule(pattern="dev", restrict_pushes=True)]
    return by_token(laboratory)


def wrong_token(laboratory: Laboratory) -> dict[str, str]:
    laboratory.secrets.append("ghs_0123456789abcdefghijklmnopqrstuvwxyz")
    return {"token": laboratory.secrets[-1]}


def wrong_key(laboratory: Laboratory) -> dict[str, str]:
    laboratory.secrets.append(laboratory.key.replace("\n", "")[31:-29])
    return {"app-id": laboratory.app, "app-private-key": laboratory.secrets[-1]}


def no_permission(laboratory: Laboratory) -> dict[str, str]:
    return {"token": laboratory.acme.sandbox.create_token("actions", {"contents": "read"})}


def token_in_a_wrong_place(laboratory: Laboratory) -> dict[str, str]:
    return {**by_token(laboratory), "git-credentials": laboratory.acme.token}


@pytest.mark.parametrize(
    "given",
    [
        refused_push,
        token_in_a_wrong_place,
        *(pytest.param(fault, marks=SLOW) for fault in (wrong_token, wrong_key, no_permission)),
    ],
)
def test_what_fails(laboratory: Laboratory, given: Given) -> None:
    commit = laboratory.acme.commit({"notes.txt": "a change"})
    inputs = {**given(laboratory), "environment": "dev", "commit": commit}
    ended = laboratory.run("cd", inputs=inputs)
    assert ended.status in {1, 2}
    assert leaks(laboratory, ended) == []


def test_our_own_bugs(laboratory: Laboratory) -> None:
    """A traceback has lines of our code, and no inputs."""
    code = (
        "from kalypso_actions.clients.github import GitHub\n"
        "def broken(github, *_, **__): raise RuntimeError(f'a bug: {github!r} {vars(github)!r}')\n"
        "GitHub.call = broken"
    )
    ended = laboratory.run("poll", inputs={**by_token(laboratory), **by_app(laboratory)}, code=code)
    assert "a bug" in ended.output and ended.status == 1
    assert leaks(laboratory, ended) == []


@SLOW
def test_local_commands(laboratory: Laboratory) -> None:
    """These commands need no token; a token in the environment belongs to its own server."""
    url = laboratory.acme.url()
    variables = {
        "GITHUB_TOKEN": laboratory.acme.token,
        "GITHUB_SERVER_URL": "https://github.com",
        "KALYPSO_INPUTS": "",
    }
    for arguments in (["render", "dev", "--control-plane", url], ["validate", url]):
        ended = laboratory.run(*arguments, inputs={}, variables=variables)
        assert with_credential(ended) == []
        assert leaks(laboratory, ended) == []


@SLOW
def test_setting_up(laboratory: Laboratory) -> None:
    """init uses the user's token of the environment, for the API and for git."""
    for name in ("acme/new", "acme/new-gitops"):
        laboratory.acme.sandbox.create_repository(name)
    names = ["--control-plane", "acme/new", "--gitops", "acme/new-gitops"]
    variables = {"GITHUB_TOKEN": laboratory.acme.token, "KALYPSO_INPUTS": ""}
    ended = laboratory.run("init", *names, "--yes", "--debug", inputs={}, variables=variables)
    assert ended.status == 0
    assert with_credential(ended) != []
    assert leaks(laboratory, ended) == []


def test_the_check_finds_planted_secrets(laboratory: Laboratory) -> None:
    token = laboratory.acme.token
    started = Started(2, 1, ("git", "fetch"), {VARIABLE: "Authorization: Basic x"})
    child = Started(3, 2, ("git-remote-http", "origin"), {VARIABLE: token})
    local = Started(4, 1, ("git", "ls-tree", token), {VARIABLE: token})
    wrong = Started(5, 1, ("git", "fetch"), {"GITHUB_TOKEN": token})
    sound = Ended(0, f"{MASK}{token}\n", "", [started, child])
    assert leaks(laboratory, sound) == []
    for ended in (
        Ended(0, f"token {token}\n", "", []),
        Ended(0, "", f"token={token}", []),
        Ended(0, "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxIn0.c2ln", "", []),
        Ended(0, "", "", [local]),
        Ended(0, "", "", [wrong]),
    ):
        assert leaks(laboratory, ended)

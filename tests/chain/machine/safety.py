"""Checks after every step of a random story."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from kalypso_actions.clients.github.issues import DUPLICATE
from kalypso_actions.model.layout import SOURCES_FILE
from kalypso_actions.model.promotion_policy import POLICY_FILE
from kalypso_sandbox.git.repositories import BareRepository
from kalypso_sandbox.store import Issue
from tests.chain.driver import Chain
from tests.chain.machine.acme import ASIDE, FOREIGN
from tests.chain.machine.render import rendered
from tests.chain.organisation import Layout
from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS, SHOP

Trees = Mapping[tuple[str, str], Mapping[str, bytes]]

REPOSITORIES = (CONTROL_PLANE, GITOPS, SHOP)


class Safety:
    """Checks Acme from outside, and caches the results."""

    def __init__(self, chain: Chain, layout: Layout, folder: Path) -> None:
        """Prepare the checks; `folder` contains the files of the runs."""
        self._chain = chain
        self._names = tuple(layout.environments)
        kinds = ("", "promote/")  # of schedule, of cd
        self._own = frozenset(f"kalypso/{kind}{name}" for kind in kinds for name in self._names)
        self._merges = "auto-merge" in layout.inputs.get("schedule", {})
        self._folder = folder
        self._rendered: set[str] = set()
        self._read: set[Path] = set()
        self._known: dict[tuple[str, str], Mapping[str, bytes]] = {}

    def trees(self) -> Trees:
        """Return every branch except our own, with its files."""
        sandbox = self._chain.acme.sandbox
        return {
            (name, branch): self.tree(name, commit)
            for name in REPOSITORIES
            for branch, commit in _branches(sandbox.git(name)).items()
            if branch not in self._own
        }

    def files(self, repository: str, branch: str) -> Mapping[str, bytes]:
        """Return every file of a branch."""
        return self.tree(repository, self._chain.acme.head(branch, repository) or "")

    def tree(self, repository: str, commit: str) -> Mapping[str, bytes]:
        """Return every file of a commit."""
        key = (repository, commit)
        if key not in self._known:
            self._known[key] = self._chain.acme.sandbox.git(repository).files(commit)
        return self._known[key]

    def only_base_repo_was_written(
        self, before: Trees, but: Collection[tuple[str, str]] = (), *, holds: bool = False
    ) -> None:
        """Check that runs change only our own branches and the `base-repo.yaml` of an environment.

        `but` are branches that somebody else changed in the meantime. `holds`: a rollback also
        writes the policy.
        """
        after = self.trees()
        assert after.keys() == before.keys()
        for place, files in after.items():
            if place in but:
                continue
            if self._merges and place[0] == GITOPS and place[1] in self._names:
                continue  # `Content` checks merges
            was = before[place]
            changed = {
                path for path in files.keys() | was.keys() if files.get(path) != was.get(path)
            }
            is_environment = place[0] == CONTROL_PLANE and place[1] in self._names
            own = {"base-repo.yaml", *([POLICY_FILE] if holds else [])}
            assert changed <= (own if is_environment else set()), place

    def nothing_is_foreign(self) -> None:
        """Check that our branches change only files of ours, and that we have no other branches."""
        sandbox = self._chain.acme.sandbox
        git = sandbox.git(GITOPS)
        assert _branches(git).keys() <= {"main", ASIDE, *self._names, *self._own}
        for name in self._names:
            head = git.head(f"kalypso/{name}")
            base = git.merge_base(head, name) if head else None
            if head and base:
                paths = git.changed_paths(base, head)
                assert not set(paths) & (FOREIGN.keys() | {"README.md"})
                assert all(path.startswith(("large/", ".github/tracking/")) for path in paths), (
                    paths
                )

    def nothing_is_doubled(self) -> None:
        """Check that no pull request, issue or comment exists twice."""
        with self._chain.acme.sandbox.lock:
            for name in (CONTROL_PLANE, GITOPS):
                repository = self._chain.acme.sandbox.repository(name)
                pulls = [issue for issue in repository.issues.values() if issue.pull_request]
                issues = [issue for issue in repository.issues.values() if not issue.pull_request]
                _check_single(
                    (pull.pull_request.head_branch, pull.pull_request.base_branch)
                    for pull in pulls
                    if pull.pull_request and pull.state == "open"
                )
                _check_single(issue.title for issue in issues if not _is_closed_duplicate(issue))
                for issue in repository.issues.values():
                    _check_single(comment.body.partition("\n")[0] for comment in issue.comments)

    def trees_are_whole(self) -> None:
        """Check that each proposed or merged tree is a full render of its sources."""
        git = self._chain.acme.sandbox.git(GITOPS)
        for name in self._names:
            proposed = git.head(f"kalypso/{name}")
            merged = git.commit(name)
            is_ours = len(merged.parents) == 2 and git.is_ancestor(*merged.parents)
            for commit in filter(None, (proposed, merged.id if is_ours else None)):
                if commit not in self._rendered:
                    self._rendered.add(commit)
                    self._check_tree(self.tree(GITOPS, commit))

    def _check_tree(self, files: Mapping[str, bytes]) -> None:
        own = {
            path: content
            for path, content in files.items()
            if path.startswith(("large/", ".github/tracking/"))
            and path not in {*FOREIGN, SOURCES_FILE}
        }
        assert own == rendered(self._chain.acme.sandbox, files[SOURCES_FILE])

    def no_token_is_told(self) -> None:
        """Check that no token is in logs, outputs, summaries or on GitHub."""
        store = self._chain.acme.sandbox.store
        with self._chain.acme.sandbox.lock:
            secrets = list(store.tokens)
            written = [repository.model_dump_json() for repository in store.repositories.values()]
        files = {path for path in self._folder.rglob("*") if path.is_file()} - self._read
        self._read |= {path for path in files if path.name != "event.json"}
        texts = [path.read_text(encoding="utf-8") for path in files]
        for text in (*texts, *written):
            assert not any(secret in text for secret in secrets)


def _branches(git: BareRepository) -> dict[str, str]:
    prefix = "refs/heads/"
    return {
        ref.removeprefix(prefix): head for ref, head in git.refs().items() if ref.startswith(prefix)
    }


def _is_closed_duplicate(issue: Issue) -> bool:
    """Tell whether an issue is the closed second one of two simultaneous runs."""
    is_marked = any(comment.body.startswith(DUPLICATE) for comment in issue.comments)
    return issue.state == "closed" and is_marked


def _check_single(keys: Iterable[object]) -> None:
    doubled = [key for key, count in Counter(keys).items() if count > 1]
    assert doubled == []

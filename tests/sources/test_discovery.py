"""Finding the files with documents."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.errors import Location
from kalypso_actions.sources.yaml_documents import MAX_BYTES
from tests.sources.trees import REPOSITORY, discovered, kustomization, manifest, names, texts


def files(*paths: str) -> dict[str, str]:
    """Return files with one manifest each, named by its path."""
    return {path: manifest(path.replace("/", "-")) for path in paths}


def test_yaml_files_at_any_depth_count_in_the_order_of_their_paths() -> None:
    discovery = discovered(
        files("b.yaml", "a/z.yml", "a/b/c.yaml", ".hidden/x.yaml", "a.txt", "yaml.md")
    )
    assert names(discovery) == [".hidden-x.yaml", "a-b-c.yaml", "a-z.yml", "b.yaml"]
    assert discovery.problems == discovery.warnings == ()


def test_a_misspelled_yaml_suffix_is_a_warning_if_the_file_would_count() -> None:
    misnamed = ("a.YAML", "b/c.yml.txt", "b/d.ymal")
    discovery = discovered(
        files("b/e.yaml", *misnamed, "excluded/f.YML") | {".sourceignore": "excluded/"}
    )
    assert names(discovery) == ["b-e.yaml"]
    assert [warning.where.path for warning in discovery.warnings if warning.where] == [*misnamed]
    assert {warning.code for warning in discovery.warnings} == {"file-misnamed"}
    listed = kustomization("b/e.yaml")
    assert discovered(files("b/e.yaml", "a.YAML") | {"kustomization.yaml": listed}).warnings == ()


CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {}\n"
LABEL = '  labels: {platform-config: "true"}\n'


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("# no configuration\n/config/\n", (2, "config/all.yaml", 3)),
        ("config/all.yaml\n*.md\n", (1, "config/all.yaml", 1)),
        ("*.yaml\n!a.yaml\n", (1, "config/all.yaml", 3)),
        ("[z-a]\n\nconfig\n", (3, "config/all.yaml", 3)),
        ("config\n!config/*.yaml\n", None),
        ("charts/\nenvironments/\nnotes.yaml\n", None),
        ("acknowledged.yaml\n", None),
    ],
)
def test_a_rule_that_excludes_documents_is_a_warning(
    rules: str, expected: tuple[int, str, int] | None
) -> None:
    tree = {
        "a.yaml": manifest("a"),
        "config/all.yaml": CONFIG.format("all") + LABEL,
        "config/azure.yaml": CONFIG.format("azure-app-config-eu"),
        "config/flux.yaml": manifest("flux"),
        "charts/values.yaml": "platform-config: on\n",
        "environments/dev.yaml": manifest("dev", "Environment"),
        "notes.yaml": CONFIG.format("notes"),
        "acknowledged.yaml": manifest("b")
        + "  annotations: {kalypso.io/ignore: document-ignored, kalypso.io/ignore-reason: later}\n",
        ".sourceignore": rules,
    }
    found = [item for item in discovered(tree).warnings if item.code == "document-ignored"]
    if expected is None:
        assert found == []
        return
    (warning,) = found
    line, path, count = expected
    assert warning.where == Location(REPOSITORY, ".sourceignore", line)
    assert f"takes {count} document" in warning.message
    assert f"ConfigMap 'all' in {path}" in warning.message


def test_documents_in_other_files_are_reported() -> None:
    document = '{"apiVersion": "scheduler.kalypso.io/v1alpha1", "kind": "ClusterType"}'
    policies = "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: SchedulingPolicy\n"
    trees = {"b/e.json": document, "package.json": "{}", "policies": policies, "LICENSE": "MIT"}
    warnings = discovered(files("a.yaml") | trees).warnings
    assert {warning.code for warning in warnings} == {"file-misnamed"}
    assert [(item.where.path, item.advice) for item in warnings if item.where] == [
        ("policies", "rename it to end with .yaml; or list it in .sourceignore"),
        (
            "b/e.json",
            "rename it to end with .yaml, which may hold JSON; or list it in .sourceignore",
        ),
    ]
    ignored = {".sourceignore": "*.json\npolicies"}
    assert discovered(files("a.yaml") | trees | ignored).warnings == ()
    assert (
        discovered({"a.json": document, "kustomization.yaml": "resources: [a.json]"}).warnings == ()
    )


@pytest.mark.parametrize("root", ["a", "./a", "a/", "/a", "./a/.", "b/../a", "a//"])
def test_path_of_a_source_can_be_written_in_many_ways(root: str) -> None:
    assert names(discovered(files("a/x.yaml", "b/y.yaml", "ab/z.yaml"), root)) == ["a-x.yaml"]


@pytest.mark.parametrize("root", ["", ".", "./", "/", "a/.."])
def test_path_of_the_root(root: str) -> None:
    assert names(discovered(files("a/x.yaml"), root)) == ["a-x.yaml"]


@pytest.mark.parametrize("root", ["..", "a/../..", "../repo", "./../a"])
def test_path_out_of_the_repository_is_refused(root: str) -> None:
    discovery = discovered(files("a/x.yaml"), root)
    assert texts(discovery.problems) == [f":0: the path {root!r} leads out of the repository"]
    assert discovery.documents == ()


def test_missing_path_is_a_problem_that_names_what_is_near() -> None:
    (problem,) = discovered(files("deploy/templates/x.yaml"), "deploy/template").problems
    assert problem.message == "the folder 'deploy/template' does not exist"
    assert problem.advice == "is 'deploy/templates' meant?"
    assert problem.where
    assert problem.where.repository == REPOSITORY


@pytest.mark.parametrize(
    ("root", "name"), [("x.yaml", "file"), ("link", "symbolic link"), ("module", "submodule")]
)
def test_path_that_is_no_folder_is_a_problem(root: str, name: str) -> None:
    discovery = discovered(files("x.yaml"), root, links={"link": "a"}, submodules=["module"])
    assert texts(discovery.problems) == [f"{root}:0: the path {root!r} is a {name}, not a folder"]


def test_a_file_that_was_emptied() -> None:
    found = files("a.yaml", "c.yaml") | {"b.yaml": "", "d.yaml": " \n\n", "e.yaml": "# off\n"}
    warnings = discovered(found).warnings
    assert [(item.code, item.where and item.where.path) for item in warnings] == [
        ("file-empty", "b.yaml"),
        ("file-empty", "d.yaml"),
    ]


def test_empty_repository_holds_nothing() -> None:
    discovery = discovered({})
    assert (discovery.documents, discovery.problems) == ((), ())


def test_documents_know_their_repository_file_and_line() -> None:
    (_, second) = discovered(
        {"a/x.yaml": manifest("one") + "---\n# two\n" + manifest("two")}
    ).documents
    assert str(second.where) == f"{REPOSITORY}: a/x.yaml:7"
    assert str(second.at("metadata", "name")) == f"{REPOSITORY}: a/x.yaml:10"


def test_only_what_counts_is_read() -> None:
    discovery = discovered(
        {**files("a/x.yaml"), "a/readme.md": b"\xff", "b/broken.yaml": "a: [", "a/.drone.yml": "{"},
        "a",
    )
    assert names(discovery) == ["a-x.yaml"]
    assert discovery.problems == ()


def test_submodules_are_passed_over() -> None:
    discovery = discovered(files("x.yaml"), submodules=["module", "module.yaml"])
    assert names(discovery) == ["x.yaml"]
    assert discovery.problems == ()
    assert {warning.code for warning in discovery.warnings} == {"submodule-ignored"}


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("x.yaml", "/etc/passwd"),
        ("x.yaml", "../outside.yaml"),
        ("a/b/readme", "../../../up"),
        ("x", "a/../../up"),
        ("x", "C:\\Windows"),
        ("x", "\\\\server\\share"),
    ],
)
def test_symbolic_link_out_of_the_repository_is_a_problem(path: str, target: str) -> None:
    discovery = discovered(files("y.yaml"), links={path: target})
    assert texts(discovery.problems) == [
        f"{path}:0: the symbolic link leads out of the repository, to {target!r}"
    ]


@pytest.mark.parametrize(
    ("path", "target", "warned"),
    [
        ("x.yaml", "a/y.yaml", True),
        ("x", "a", True),
        ("b/x", "../a", True),
        ("b/x", "..", True),
        ("README", "docs/README", False),
    ],
)
def test_symbolic_link_inside_is_passed_over(path: str, target: str, *, warned: bool) -> None:
    discovery = discovered({**files("a/y.yaml"), "docs/README": ""}, links={path: target})
    assert names(discovery) == ["a-y.yaml"]
    assert discovery.problems == ()
    expected = f"{path}:0: the symbolic link to {target!r} is ignored, as by Flux"
    assert texts(discovery.warnings) == ([expected] if warned else [])


@pytest.mark.parametrize(
    ("links", "submodules", "ignored", "expected"),
    [
        ({"config": "../b/configs"}, [], "", "config:0: the symbolic link leads"),
        ({"config": "nowhere"}, [], "", "config:0: the symbolic link leads to 'nowhere', which does not exist"),
        ({"config": "nowhere"}, [], "config", ""),
        ({}, ["config"], "", "config:0: config is a submodule: its files are not read, as by Flux"),
        ({}, ["a/config"], "", "a/config:0: a/config is a submodule: its files are not read, as by Flux"),
        ({}, ["tools"], "/tools", ""),
        ({}, [".github/tools"], ".github/", ""),
    ],
)  # fmt: skip
def test_a_folder_that_is_a_link_or_a_submodule(
    links: dict[str, str], submodules: list[str], ignored: str, expected: str
) -> None:
    tree = {**files("a/y.yaml"), **({".sourceignore": ignored} if ignored else {})}
    discovery = discovered(tree, links=links, submodules=submodules)
    assert names(discovery) == ["a-y.yaml"]
    told = texts((*discovery.problems, *discovery.warnings))
    assert [text.startswith(expected) for text in told] == ([True] if expected else [])


@pytest.mark.parametrize(
    ("path", "target", "read"),
    [
        ("app/x.yaml", "../shared/y.yaml", ["shared-y.yaml"]),
        ("app/x.yml", "../shared/../shared/y.yaml", ["shared-y.yaml"]),
        ("app/deep/x.yaml", "../../shared/y.yaml", ["shared-y.yaml"]),
        ("app/x", "../shared", ["shared-y.yaml"]),
        ("app/x", "../listed", ["listed-one.yaml"]),
        ("app/x", "../shared/y.yaml", []),
        ("app/x.yaml", "../nowhere.yaml", []),
        ("app/x.yaml", "../hidden/z.yaml", []),
        ("app/x", "..", []),
    ],
)
def test_a_link_of_a_registered_folder_leads_to_its_target(
    path: str, target: str, read: list[str]
) -> None:
    """Also where the folder has nothing else."""
    tree = files("shared/y.yaml", "hidden/z.yaml", "listed/one.yaml", "listed/two.yaml")
    tree |= {"listed/kustomization.yaml": kustomization("one.yaml"), ".sourceignore": "hidden/\n"}
    discovery = discovered(tree, "app", links={path: target}, registered=True)
    assert names(discovery) == read
    assert discovery.problems == ()
    assert not read or discovery.warnings == ()
    assert all(document.where.path in tree for document in discovery.documents)


def test_no_link_reads_a_file_twice() -> None:
    links = {"app/b.yaml": "a.yaml", "app/c.yaml": "../s/y.yaml", "app/d.yaml": "../s/y.yaml"}
    tree = files("app/a.yaml", "s/y.yaml")
    assert names(discovered(tree, "app", links=links, registered=True)) == [
        "app-a.yaml",
        "s-y.yaml",
    ]
    for name in ("app/b.yaml", "app/e.yaml"):
        links = {"app/c": "../s", "app/d": "../s", name: "../s/y.yaml"}
        discovery = discovered(tree, "app", links=links, registered=True)
        assert (names(discovery), discovery.problems) == (["app-a.yaml", "s-y.yaml"], ())


def test_a_link_beside_a_kustomization_has_no_effect() -> None:
    tree = files("app/a.yaml", "s/y.yaml") | {"app/kustomization.yaml": kustomization("a.yaml")}
    links = {"app/b.yaml": "../s/y.yaml"}
    assert names(discovered(tree, "app", links=links, registered=True)) == ["app-a.yaml"]


def test_symbolic_links_elsewhere_or_excluded_are_ignored() -> None:
    discovery = discovered(
        {**files("a/x.yaml"), ".sourceignore": "bad\n"},
        "a",
        links={"b/out": "/etc", "a/bad": "/etc"},
    )
    assert names(discovery) == ["a-x.yaml"]
    assert discovery.problems == ()


def test_file_beyond_the_limit_is_a_problem_and_is_not_read() -> None:
    discovery = discovered({"big.yaml": b"#" * (MAX_BYTES + 1), **files("x.yaml")})
    assert texts(discovery.problems) == [
        "big.yaml:0: the file has 64.0 MiB, but the limit is 64 MiB"
    ]
    assert names(discovery) == ["x.yaml"]


def test_file_name_that_is_no_utf8_is_shown_escaped() -> None:
    discovery = discovered({"a\udcff.yaml": manifest("x")})
    assert discovery.documents[0].where.path == "a\\xff.yaml"


def test_deep_folders_are_no_difficulty() -> None:
    path = "d/" * 3000 + "x.yaml"
    assert names(discovered({path: manifest("deep")})) == ["deep"]


def test_exclusions_hold_below_the_path_and_above_it() -> None:
    discovery = discovered(
        {
            **files("a/x.yaml", "a/skip.yaml", "a/b/y.yaml", "a/b/own.yaml", ".github/w.yaml"),
            ".sourceignore": "skip.yaml\n",
            "a/b/.sourceignore": "/own.yaml\n",
        },
        "a",
    )
    assert names(discovery) == ["a-b-y.yaml", "a-x.yaml"]


def test_unusable_exclusions_stop_the_search() -> None:
    discovery = discovered({**files("x.yaml"), ".sourceignore": "a" * 1001})
    assert texts(discovery.problems) == [
        ".sourceignore:0: more than 1000 lines, or a line of more than 1000 characters"
    ]
    assert discovery.documents == ()


def test_whole_tree_ignores_sourceignore_and_kustomizations() -> None:
    discovery = discovered(
        {
            **files(".environments/dev.yaml", "a/x.yaml", ".github/w.yaml"),
            ".sourceignore": ".environments/\n",
            "kustomization.yaml": kustomization("a/x.yaml", more="namePrefix: p-\n"),
        },
        whole_tree=True,
    )
    assert names(discovery) == [".environments-dev.yaml", "a-x.yaml"]
    assert discovery.problems == discovery.warnings == ()


TEXTS = st.lists(
    st.sampled_from(
        [
            *("resources:\n", "- x.yaml\n", "- ../a\n", "- .\n", "kind: ", "Component\n", "List\n"),
            *("apiVersion: v1\n", "items:\n", "namePrefix: x\n", "*\n", "!x\n", "[\n", "---\n"),
            *("metadata:\n", "  name: x\n", "x: &x\n", "y: *x\n", "\\", "\x00", "**/", "\n"),
        ]
    ),
    max_size=8,
).map("".join)


@given(TEXTS | st.binary(max_size=20), TEXTS, TEXTS | st.binary(max_size=20), st.text(max_size=4))
def test_no_files_end_in_a_traceback(
    ignored: str | bytes, kustomized: str, content: str | bytes, root: str
) -> None:
    tree = {".sourceignore": ignored, "a/kustomization.yaml": kustomized, "a/x.yaml": content}
    for path in (".", "a", root):
        discovery = discovered(tree, path)
        assert all(problem.where for problem in discovery.problems)


CLUSTER_TYPE = "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: ClusterType\nmetadata: {name: a}\n"


@pytest.mark.parametrize(
    ("kustomizations", "left_out"),
    [
        ({"kustomization.yaml": "resources: [a.yaml]\n"}, ["b/c.yaml"]),
        ({"kustomization.yaml": "resources: [a.yaml, b/c.yaml]\n"}, []),
        (
            {
                "kustomization.yaml": "resources: [a.yaml, b]\n",
                "b/kustomization.yaml": "resources: [c.yaml]\n",
            },
            [],
        ),
        ({"b/kustomization.yaml": "resources: [d.yaml]\n"}, ["b/c.yaml"]),
        ({"kustomization.yaml": "resources: [a.yaml, none.yaml]\n"}, []),  # has its own problem
        ({}, []),
    ],
)
def test_documents_that_no_kustomization_includes_are_told(
    kustomizations: dict[str, str], left_out: list[str]
) -> None:
    files = {
        "a.yaml": CLUSTER_TYPE,
        "b/c.yaml": CLUSTER_TYPE.replace("{name: a}", "{name: c}"),
        "b/d.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: d}\n",
    }
    found = [
        item
        for item in discovered({**files, **kustomizations}).warnings
        if item.code == "document-ignored" and "no kustomization includes" in item.message
    ]
    assert [item.where.path for item in found if item.where] == left_out

"""Following and building kustomizations."""

from __future__ import annotations

import pytest

from tests.sources.trees import discovered, kustomization, manifest, names, texts


@pytest.mark.parametrize("name", ["kustomization.yaml", "kustomization.yml", "Kustomization"])
def test_kustomization_of_the_path_says_what_counts(name: str) -> None:
    discovery = discovered(
        {
            name: kustomization("a.yaml", "sub/b.yaml", "c.txt"),
            "a.yaml": manifest("a"),
            "sub/b.yaml": manifest("b"),
            "c.txt": manifest("c"),
            "other.yaml": manifest("other"),
            "sub/other.yaml": "broken: [",
        }
    )
    assert names(discovery) == ["a", "c", "b"]
    assert discovery.problems == ()
    left_out = [(item.code, item.where and item.where.path) for item in discovery.warnings]
    assert left_out == [("document-ignored", "other.yaml")]


def test_folder_with_a_kustomization_is_not_walked() -> None:
    discovery = discovered(
        {
            "x.yaml": manifest("x"),
            "sub/kustomization.yaml": kustomization("a.yaml"),
            "sub/a.yaml": manifest("a"),
            "sub/b.yaml": manifest("b"),
            "sub/deeper/c.yaml": manifest("c"),
        }
    )
    assert names(discovery) == ["a", "x"]


def test_folders_and_bases_are_followed_within_the_repository() -> None:
    discovery = discovered(
        {
            "env/kustomization.yaml": kustomization(
                "../shared", "./own/", more="bases:\n- ../base\n"
            ),
            "env/own/kustomization.yaml": kustomization("../../one.yaml"),
            "shared/Kustomization": kustomization("s.yaml"),
            "shared/s.yaml": manifest("s"),
            "base/kustomization.yml": kustomization("b.yaml"),
            "base/b.yaml": manifest("b"),
            "one.yaml": manifest("one"),
        },
        "env",
    )
    assert names(discovery) == ["b", "one", "s"]
    assert discovery.problems == ()


@pytest.mark.parametrize(
    "more",
    [
        "namespace: dev\n",
        "metadata:\n  name: x\n",
        "sortOptions:\n  order: fifo\n",
        "patches: []\n",
        "namePrefix: ''\n",
        "images: null\n",
    ],
)
def test_fields_without_effect_need_no_program(more: str) -> None:
    discovery = discovered(
        {"kustomization.yaml": kustomization("a.yaml", more=more), "a.yaml": manifest("a")}
    )
    assert names(discovery) == ["a"]
    assert discovery.builds == ()


@pytest.mark.parametrize(
    "field",
    [
        "namePrefix: x-",
        "nameSuffix: -x",
        "labels: [{pairs: {a: b}}]",
        "commonLabels: {a: b}",
        "commonAnnotations: {a: b}",
        "patches: [{path: p.yaml}]",
        "patchesStrategicMerge: [p.yaml]",
        "images: [{name: a, newTag: b}]",
        "replicas: [{name: a, count: 2}]",
        "configMapGenerator: [{name: a}]",
        "generators: [g.yaml]",
        "transformers: [t.yaml]",
        "vars: [{name: A}]",
        "replacements: [{path: r.yaml}]",
        "buildMetadata: [originAnnotations]",
        "helmCharts: [{name: a}]",
        "unknown: 1",
    ],
)
def test_fields_that_change_objects_need_a_build(field: str) -> None:
    discovery = discovered(
        {
            "app/kustomization.yaml": kustomization("a.yaml", more=f"{field}\n"),
            "app/a.yaml": manifest("a"),
            "app/p.yaml": "a patch: 1",
            "other/b.yaml": manifest("b"),
        }
    )
    (build,) = discovery.builds
    assert build.folder == "app"
    assert build.fields == (field.partition(":")[0],)
    assert (build.where.path, build.where.line) == ("app/kustomization.yaml", 5)
    assert {"app/kustomization.yaml", "app/a.yaml", "app/p.yaml"} <= build.files
    assert "other/b.yaml" not in build.files


def test_components_are_built_with_the_kustomization_that_lists_them() -> None:
    discovery = discovered(
        {
            "app/kustomization.yaml": kustomization("a.yaml", more="components: [../part]\n"),
            "app/a.yaml": manifest("a"),
            "part/kustomization.yaml": "kind: Component\nnamePrefix: x-\n",
            "part/values.txt": "x",
        },
        "app",
    )
    assert discovery.problems == ()
    (build,) = discovery.builds
    assert {"part/kustomization.yaml", "part/values.txt"} <= build.files


def test_build_takes_along_the_folders_that_it_reaches() -> None:
    discovery = discovered(
        {
            "app/kustomization.yaml": kustomization(
                "../base", "../file.yaml", more="namePrefix: x-\n"
            ),
            "base/kustomization.yaml": kustomization("b.yaml", "../base2"),
            "base/b.yaml": manifest("b"),
            "base2/kustomization.yaml": kustomization("c.yaml", more="nameSuffix: -y\n"),
            "base2/c.yaml": manifest("c"),
            "base2/data/values.txt": "x",
            "file.yaml": manifest("file"),
            "file2.yaml": manifest("file2"),
        },
        "app",
    )
    (build,) = discovery.builds
    assert build.files == {
        *("app/kustomization.yaml", "base/kustomization.yaml", "base/b.yaml", "file.yaml"),
        *("base2/kustomization.yaml", "base2/c.yaml", "base2/data/values.txt"),
    }


def test_a_build_without_objects_is_no_empty_file() -> None:
    tree = {"app/kustomization.yaml": kustomization("a.yaml", more="namePrefix: x-\n")}
    tree["app/a.yaml"] = manifest("a")
    assert discovered(tree, "app", built={"app": b""}).warnings == ()


def test_built_objects_have_the_place_of_their_kustomization() -> None:
    discovery = discovered(
        {
            "app/kustomization.yaml": kustomization("a.yaml", more="namePrefix: x-\n"),
            "app/a.yaml": manifest("a"),
            "b.yaml": manifest("b"),
        },
        built={"app": (manifest("x-a") + "---\n" + manifest("x-b")).encode()},
    )
    assert names(discovery) == ["x-a", "x-b", "b"]
    where = discovery.documents[1].at("metadata", "name")
    assert (where.path, where.line) == ("app/kustomization.yaml", 5)
    assert discovery.builds == ()


ELSEWHERE = [
    "https://github.com/org/repo//base?ref=v1",
    "http://example.com/a.yaml",
    "git@github.com:org/repo.git",
    "github.com/org/repo/base",
    "git::https://example.com/x",
    "ssh://git@host/x",
    "host/x?ref=main",
]


@pytest.mark.parametrize("resource", ELSEWHERE)
@pytest.mark.parametrize("more", ["", "namePrefix: x-\n"])
def test_remote_resources_are_refused(resource: str, more: str) -> None:
    discovery = discovered({"kustomization.yaml": kustomization(resource, more=more)})
    assert texts(discovery.problems) == [
        f"kustomization.yaml:4: {resource} is remote, but only files of this repository are read"
    ]
    assert discovery.builds == ()


@pytest.mark.parametrize(
    ("resource", "message"),
    [
        ("missing.yaml", "missing.yaml does not exist"),
        ("folder", "the folder folder has no kustomization.yaml"),
        ("../x.yaml", "../x.yaml leads out of the repository"),
        ("/etc/passwd", "/etc/passwd leads out of the repository"),
        (".", ". leads back to this kustomization"),
        ("link.yaml", "link.yaml does not exist"),
        ("ignored.yaml", "ignored.yaml does not exist"),
        ("{a: b}", "an entry of resources must be the path of a file or folder"),
        ('""', "an entry of resources must be the path of a file or folder"),
    ],
)
def test_resource_that_cannot_be_read_is_a_problem(resource: str, message: str) -> None:
    discovery = discovered(
        {
            "kustomization.yaml": kustomization(resource),
            "folder/x.yaml": manifest("x"),
            "ignored.yaml": manifest("ignored"),
            ".sourceignore": "ignored.yaml\n",
        },
        links={"link.yaml": "folder/x.yaml"},
    )
    assert texts(discovery.problems) == [f"kustomization.yaml:4: {message}"]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("", "0: the file contains no kustomization"),
        ("# nothing\n", "0: the file contains no kustomization"),
        ("kind: Kustomization\n", "1: the kustomization is empty"),
        ("a: 1\n---\na: 1\n", "0: the file contains more than one kustomization"),
        ("kind: Job\n", "1: the kind of a kustomization must be Kustomization, not Job"),
        (
            "kind: Component\nnamePrefix: x-\n",
            "2: a Component has an effect only if a kustomization lists it under components",
        ),
        ("resources: x\n", "1: resources must be a list"),
        (
            "resources: [",
            "1: not valid YAML: while parsing a flow node, did not find expected node content",
        ),
    ],
)
def test_broken_kustomization_is_a_problem(content: str, text: str) -> None:
    discovery = discovered({"kustomization.yaml": content})
    assert texts(discovery.problems) == [f"kustomization.yaml:{text}"]


def test_kustomization_without_objects_is_fine() -> None:
    discovery = discovered({"kustomization.yaml": "resources: []\n"})
    assert (discovery.documents, discovery.problems) == ((), ())


def test_several_kustomizations_in_a_folder_are_a_problem() -> None:
    discovery = discovered({"kustomization.yaml": "", "Kustomization": ""})
    (problem,) = discovery.problems
    assert problem.message.endswith("several kustomizations: kustomization.yaml, Kustomization")


def test_cycle_is_a_problem() -> None:
    discovery = discovered(
        {
            "a/kustomization.yaml": kustomization("../b"),
            "b/kustomization.yaml": kustomization("../a"),
        },
        "a",
    )
    assert texts(discovery.problems) == [
        "b/kustomization.yaml:4: ../a leads back to this kustomization"
    ]


def test_a_resource_included_twice_is_a_problem() -> None:
    discovery = discovered(
        {
            "dev/kustomization.yaml": kustomization("../base"),
            "stage/kustomization.yaml": kustomization("../base", "own.yaml", "own.yaml"),
            "stage/own.yaml": manifest("own"),
            "base/kustomization.yaml": kustomization("x.yaml"),
            "base/x.yaml": manifest("x"),
        }
    )
    assert sorted(text.rpartition(" by ")[0] for text in texts(discovery.problems)) == [
        "base:0: base is included twice, first",
        "dev/kustomization.yaml:4: base is included twice, first",
        "stage/kustomization.yaml:6: stage/own.yaml is included twice, first",
    ]


def test_long_chains_end_with_a_problem() -> None:
    chain = {
        f"{number}/kustomization.yaml": kustomization(f"../{number + 1}") for number in range(200)
    }
    discovery = discovered(chain, "0")
    assert texts(discovery.problems) == [
        "99/kustomization.yaml:4: more than 100 kustomizations refer to one another in a chain"
    ]


def test_many_paths_to_one_folder_take_no_time() -> None:
    ladder = {
        f"{number}/kustomization.yaml": kustomization(*[f"../{number + 1}"] * 20)
        for number in range(50)
    }
    assert len(discovered(ladder, "0").problems) == 19 * 49 + 20

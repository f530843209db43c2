"""The pipeline and the assignments of step summaries."""

from __future__ import annotations

import itertools

from kalypso_actions.report.markdown import MAIN, PipelineNode, pipeline_diagram
from kalypso_actions.report.schedule_document import AssignmentCell, assignment_matrix

HOSTILE = 'a"] --> b; click n0 "javascript:x" <b>`\n```\n%%{init}%%#'


def test_a_diagram() -> None:
    nodes = [PipelineNode(MAIN, "abc1234"), PipelineNode("dev", "compliant", "done")]
    text = pipeline_diagram([*nodes, PipelineNode("stage")], [(MAIN, "dev"), ("dev", "stage")])
    assert text.splitlines() == [
        "```mermaid",
        "flowchart LR",
        "  accTitle: From main through the environments",
        '  n0["main<br/>abc1234"]',
        '  n1["dev<br/>compliant"]',
        '  n2["stage"]',
        "  n0 --> n1",
        "  n1 --> n2",
        "  classDef done stroke:#2da44e,stroke-width:3px",
        "  class n1 done",
        "```",
    ]


def test_no_text_is_syntax() -> None:
    text = pipeline_diagram([PipelineNode(MAIN), PipelineNode(HOSTILE, HOSTILE)], [("", HOSTILE)])
    (label,) = (line for line in text.splitlines() if line.startswith("  n1["))
    inner = label.removeprefix('  n1["').removesuffix('"]').replace("<br/>", "")
    assert not set(inner) & set('"<>[]`%{}()|&:')
    assert "#34;" in inner
    assert text.count("```") == 2


def test_too_many_environments() -> None:
    names = [f"e{number}" for number in range(31)]
    nodes = [PipelineNode(name) for name in names]
    assert pipeline_diagram(nodes, list(itertools.pairwise(names))) == ""


def test_a_matrix_of_targets_then_of_workspaces_then_none() -> None:
    few = [AssignmentCell("web|x", "shop", "edge"), AssignmentCell("db", "shop", "dc", failed=True)]
    assert assignment_matrix(few).splitlines()[3:8] == [
        "| Target | `dc` | `edge` |",
        "| --- | --- | --- |",
        "| `db` | ✗ |  |",
        "| `web\\|x` |  | ✓ |",
        "",
    ]
    many = [AssignmentCell(f"t{n}", "shop", "edge", failed=n == 0) for n in range(40)]
    assert "| `shop` | 40 (1 ✗) |" in assignment_matrix(many)
    assert "40 assignments on 1 cluster type" in assignment_matrix(many)
    assert assignment_matrix([AssignmentCell("t", f"w{n}", f"c{n}") for n in range(40)]) == ""
    assert assignment_matrix([]) == ""

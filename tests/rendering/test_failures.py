"""The messages of template engines in plain words."""

from __future__ import annotations

import pytest

from kalypso_actions.rendering.failures import in_plain_words

GO = 'template: template:3:7: executing "template" at '


@pytest.mark.parametrize(
    ("message", "words", "advice"),
    [
        pytest.param(
            f"{GO}<.Wrkload>: can't evaluate field Wrkload in type scheduler.dataType",
            ": no assignment has the field .Wrkload",
            "did you mean .Workload?",
            id="a field of the data",
        ),
        pytest.param(
            f"{GO}<.Workload.Name>: can't evaluate field Name in type string",
            " at .Workload.Name: can't evaluate field Name in type string",
            "",
            id="a field of a text",
        ),
        *(
            pytest.param(
                f"{GO}<{node}>: {fault}",
                f": .{name} is read where range, with or template has set . to another value",
                f"write $.{name} for the field of the assignment",
                id=f"{node} inside range",
            )
            for name, node, fault in (
                (
                    "Environment",
                    ".Environment",
                    "can't evaluate field Environment in type interface {}",
                ),
                ("ConfigData", ".ConfigData.A", "can't evaluate field ConfigData in type string"),
                ("Labels", ".Labels", "nil pointer evaluating interface {}.Labels"),
            )
        ),
        pytest.param(
            f"{GO}<.Workload.Environment>: can't evaluate field Environment in type string",
            " at .Workload.Environment: can't evaluate field Environment in type string",
            "",
            id="a field of another field",
        ),
        pytest.param(
            f"{GO}<.ConfigData.LOG>: range can't iterate over info",
            ": range needs a list or a mapping, but .ConfigData.LOG is 'info'",
            "write a list where the value is set, or print it without range",
            id="a text in place of a list",
        ),
        pytest.param(
            f"{GO}<.Workspace>: range can't iterate over ",
            ": range needs a list or a mapping, but .Workspace is ''",
            "write a list where the value is set, or print it without range",
            id="an empty text in place of a list",
        ),
        pytest.param(
            f'{GO}<fail "no region">: error calling fail: no region\nsee the guide',
            ": no region\nsee the guide",
            "",
            id="the text of fail",
        ),
        pytest.param(
            f"{GO}<div 1 0>: error calling div: runtime error: integer divide by zero",
            " at div 1 0: runtime error: integer divide by zero",
            "",
            id="a function",
        ),
        pytest.param(
            'template: template:2: unexpected "}" in operand',
            ': unexpected "}" in operand',
            "",
            id="a fault of parsing",
        ),
        pytest.param(
            'template: template:2: function "qoute" not defined',
            ': function "qoute" not defined',
            "did you mean quote?",
            id="a function that does not exist",
        ),
        pytest.param(
            f'{GO}<{{{{template "labels" .}}}}>: template "labels" not defined',
            ': the template "labels" is not defined in this text of manifests',
            'write {{ define "labels" }} into it: texts share no definitions',
            id="a helper of another text",
        ),
        pytest.param("'Wrkload' is undefined", ": 'Wrkload' is undefined", "", id="Jinja2"),
    ],
)
def test_messages(message: str, words: str, advice: str) -> None:
    assert in_plain_words(message) == (words, advice)

"""Two plans of an environment → their differences (`model.differences`), without secrets.

documents.py   the content of documents, and the documents that differ
values.py      the configuration values that differ
trees.py       the files that differ between two trees
deployed.py    two merged trees
findings.py    new problems, and known ones
masking.py     remove secrets before anything shows a comparison
key_names.py   the names of keys whose values are secret
text_masking.py
               the secrets in the text of a file
unified.py     unified diffs of files
visibility.py  repositories that fewer people may read
settings.py    the files of a change that determine the settings of its preview
"""

from kalypso_actions.comparison.deployed import (
    assignment_names,
    differing_paths,
    manifest_entries,
)
from kalypso_actions.comparison.documents import Document, differing_documents, document_changes
from kalypso_actions.comparison.findings import new_findings
from kalypso_actions.comparison.key_names import MASKED_KEYS
from kalypso_actions.comparison.masking import Mask
from kalypso_actions.comparison.trees import tree_changes
from kalypso_actions.comparison.unified import unified_diff
from kalypso_actions.comparison.values import (
    Configured,
    ValueDifference,
    ValueDifferences,
    grouped_values,
    value_changes,
)

__all__ = [
    "MASKED_KEYS",
    "Configured",
    "Document",
    "Mask",
    "ValueDifference",
    "ValueDifferences",
    "assignment_names",
    "differing_documents",
    "differing_paths",
    "document_changes",
    "grouped_values",
    "manifest_entries",
    "new_findings",
    "tree_changes",
    "unified_diff",
    "value_changes",
]

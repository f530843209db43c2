"""Two plans of an environment → their differences (`model.differences`), without secrets.

documents.py   what documents say, and which of them differ
values.py      the configuration values that differ
findings.py    new problems, and known ones
masking.py     remove secrets before anything shows a comparison
"""

from kalypso_actions.comparison.documents import Document, differing_documents, document_changes
from kalypso_actions.comparison.findings import new_findings
from kalypso_actions.comparison.masking import MASKED, MASKED_KEYS, Mask
from kalypso_actions.comparison.values import Configured, value_changes

__all__ = [
    "MASKED",
    "MASKED_KEYS",
    "Configured",
    "Document",
    "Mask",
    "differing_documents",
    "document_changes",
    "new_findings",
    "value_changes",
]

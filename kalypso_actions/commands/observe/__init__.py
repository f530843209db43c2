"""Record what each environment should run, and what its clusters run, since when.

command   one look, compared with the record
read      the targets of all environments, and the reports of their clusters
branches  what a branch wants of its targets at each new commit
"""

from kalypso_actions.commands.observe.command import observe

__all__ = ["observe"]

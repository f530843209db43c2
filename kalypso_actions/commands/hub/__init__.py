"""`kalypso hub`: the record as tables in SQLite and PostgreSQL, and behind HTTP.

document = hub_file(HubFileInputs(...), context)
document = hub_load(HubLoadInputs(...), context)
hub_serve(HubServeInputs(...), context)
"""

from kalypso_actions.commands.hub.load import hub_file, hub_load
from kalypso_actions.commands.hub.serve import hub_serve

__all__ = ["hub_file", "hub_load", "hub_serve"]

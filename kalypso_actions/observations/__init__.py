"""What each environment should run and what its clusters run, since when: the record.

record = ObservationRecord.parse(files)           # the files of the branch `kalypso-observability`
seen, look = observed(record, ...)                # desired.py and real.py compare a look with it
files = replace(record, ...).files()              # one commit for each look with changes
load(database, read, head, name)                  # the periods, from the lines of each commit

The record is a log: Git keeps what each look has changed, and `projection` reads it back.
"""

"""Generate files from the code: docs/reference, each action.yml, and a part of the guide.

python -m tools.reference            write the files
python -m tools.reference --check    write nothing; exit 1 and list stale files

schemas      the JSON Schema of every command's output
commands     the help of every command
problems     the kinds of problems
promotion    the life of a commit: a page of events, and a part of the guide
actions      the inputs and outputs of every action, and its action.yml
actions_page the page about all of them
tables       Markdown
"""

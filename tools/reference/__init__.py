"""What is written from the code: docs/reference, each action.yml, and the tables of README.md.

python -m tools.reference            write the files
python -m tools.reference --check    write nothing; exit 1 and list what differs

schemas      the JSON Schema of every command's output
commands     what every command says of itself
actions      what every action is given and gives, and its action.yml
tables       that as Markdown, in README.md
"""

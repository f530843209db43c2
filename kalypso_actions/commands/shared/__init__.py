"""What several commands share: their contexts, their readers, and how they write.

with open_context(inputs, runtime) as context:        # a job: context.py
with local_context.reader(sources) as reader:         # a terminal: local_context.py
"""

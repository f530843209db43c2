"""The results for people and programs: texts for a terminal, pages, JSON documents."""

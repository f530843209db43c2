"""What people and programs read: texts for a terminal, JSON documents."""

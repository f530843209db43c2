"""Everything that one run reads, fetched once."""

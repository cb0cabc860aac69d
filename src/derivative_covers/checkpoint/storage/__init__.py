"""Where saved states lie: in memory, or on disk with a journal."""

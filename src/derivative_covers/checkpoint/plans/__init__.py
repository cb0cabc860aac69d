"""Schedules and their plans: pure data, which knows neither states nor tapes."""

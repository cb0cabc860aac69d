"""Steps of a chain: functions that are recorded, or that bring a reverse rule."""

"""Replay of a recorded program at other points, compiled."""

"""Sums over data, many points and many boxes, on executors that people already run."""

from __future__ import annotations

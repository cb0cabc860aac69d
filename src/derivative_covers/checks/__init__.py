"""Derivatives of a program against differences of the plain program."""

from __future__ import annotations

from ._check import check
from ._report import CheckReport, CheckRow

__all__ = ["CheckReport", "CheckRow", "check"]

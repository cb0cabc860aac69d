"""Recorded programs, evaluated again in compiled code."""

from ._compiled import Compiled, compile

__all__ = ["Compiled", "compile"]

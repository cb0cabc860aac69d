"""Compiled interpreters of replayed programs; loaded where the compiler is on."""

"""Compiled kernels: functions of arrays and numbers, loaded on first use."""

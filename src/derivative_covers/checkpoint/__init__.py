"""Reverse sweeps over a chain of many steps, in bounded memory."""

from __future__ import annotations

from .execution._cover import ChainCover, cover_sweep
from .execution._events import Event
from .execution._hvp import ChainHvp, hvp_sweep
from .execution._report import Seconds, SpaceUse, SweepReport, SweepResult, Work
from .execution._resume import resume
from .execution._sweep import reverse_sweep
from .plans._actions import Action, Kind, Level
from .plans._binomial import Binomial
from .plans._budget import for_budget
from .plans._capacity import capacity
from .plans._cost import PlanCost
from .plans._plan import Plan, Walk
from .plans._revolve import Revolve
from .plans._schedule import Schedule
from .plans._store_all import StoreAll
from .plans._two_level import TwoLevel
from .plans._uniform import UniformBlock
from .plans._validate import validate
from .steps._chain import Chain
from .steps._transition import Transition
from .storage._disk import DiskStorage, unfinished
from .storage._journal import Journal
from .storage._storage import MemoryStorage, Storage

__all__ = [
    "Action",
    "Binomial",
    "Chain",
    "ChainCover",
    "ChainHvp",
    "DiskStorage",
    "Event",
    "Journal",
    "Kind",
    "Level",
    "MemoryStorage",
    "Plan",
    "PlanCost",
    "Revolve",
    "Schedule",
    "Seconds",
    "SpaceUse",
    "Storage",
    "StoreAll",
    "SweepReport",
    "SweepResult",
    "Transition",
    "TwoLevel",
    "UniformBlock",
    "Walk",
    "Work",
    "capacity",
    "cover_sweep",
    "for_budget",
    "hvp_sweep",
    "resume",
    "reverse_sweep",
    "unfinished",
    "validate",
]

"""Events: something crosses a value during a run, which marks the time or stops the run."""

from .event import Event, Surroundings
from .watcher import Watcher, must_be_events

__all__ = ["Event", "Surroundings", "Watcher", "must_be_events"]

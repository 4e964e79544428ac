"""Events: something crosses a value during a run, which marks the time or stops the run."""

from .event import Event, EventInputs
from .watcher import Watcher, must_be_events

__all__ = ["Event", "EventInputs", "Watcher", "must_be_events"]

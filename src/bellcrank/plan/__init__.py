"""From a Model to the Plan of a walk over its bodies: their order, the frames to compute in, the structure that folds."""

from .frames import Frames, choose_frames
from .order import Tree, depth_first
from .plan import Plan, make_plan
from .signature import SLOTS, Signature

__all__ = ["SLOTS", "Frames", "Plan", "Signature", "Tree", "choose_frames", "depth_first", "make_plan"]

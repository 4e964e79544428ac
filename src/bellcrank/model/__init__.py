"""What a mechanism is: the Spec that the user wrote, and the Model that the program runs."""

from .build import build
from .builder import Mechanism, in_body
from .closure import Closure
from .element import Element
from .measure import Measure
from .model import Model
from .motion import Law, Motion, Table
from .order import outward_order
from .problems import Problems
from .shapes import MassProperties, Matrix, Rod, Shape, Vector
from .source import Limits, Source
from .spec import GROUND, BodySpec, InitialSpec, JointSpec, PointSpec, Spec, Where

__all__ = [
    "GROUND",
    "BodySpec",
    "Closure",
    "Element",
    "InitialSpec",
    "JointSpec",
    "Law",
    "Limits",
    "MassProperties",
    "Matrix",
    "Measure",
    "Mechanism",
    "Model",
    "Motion",
    "PointSpec",
    "Problems",
    "Rod",
    "Shape",
    "Source",
    "Spec",
    "Table",
    "Vector",
    "Where",
    "build",
    "in_body",
    "outward_order",
]

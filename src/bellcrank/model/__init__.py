"""What a mechanism is: the Spec that the user wrote, and the Model that the program runs."""

from .builder import Mechanism
from .building.build import build
from .closure import Closure
from .element import Element
from .geometry.places import between, by_distances, mirrored, on_line, turned
from .measures.measure import Measure
from .model import Model
from .motion import Law, PrescribedMotion
from .order import outward_order
from .parameters.tables import Table
from .python.functions import Function
from .source import Limits, Source
from .spec.items import GROUND, Where
from .spec.problems import Problems
from .spec.shapes import MassProperties, Matrix, Rod, Shape, Vector
from .spec.spec import BodySpec, InitialSpec, JointSpec, PointSpec, Spec
from .spec.values import in_body

__all__ = [
    "GROUND",
    "BodySpec",
    "Closure",
    "Element",
    "Function",
    "InitialSpec",
    "JointSpec",
    "Law",
    "Limits",
    "MassProperties",
    "Matrix",
    "Measure",
    "Mechanism",
    "Model",
    "PointSpec",
    "PrescribedMotion",
    "Problems",
    "Rod",
    "Shape",
    "Source",
    "Spec",
    "Table",
    "Vector",
    "Where",
    "between",
    "build",
    "by_distances",
    "in_body",
    "mirrored",
    "on_line",
    "outward_order",
    "turned",
]

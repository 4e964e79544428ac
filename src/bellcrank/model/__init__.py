"""What a mechanism is: the Spec that the user wrote, and the Model that the program runs."""

from .build import build
from .model import Model
from .order import outward_order
from .problems import Problems
from .shapes import MassProperties, Matrix, Rod, Shape, Vector
from .spec import GROUND, BodySpec, InitialSpec, JointSpec, PointSpec, Spec, Where

__all__ = [
    "GROUND",
    "BodySpec",
    "InitialSpec",
    "JointSpec",
    "MassProperties",
    "Matrix",
    "Model",
    "PointSpec",
    "Problems",
    "Rod",
    "Shape",
    "Spec",
    "Vector",
    "Where",
    "build",
    "outward_order",
]

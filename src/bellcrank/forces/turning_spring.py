"""Spring against the turn of one body relative to another, the same about every axis: moment on b = -stiffness phi.

phi is the rotation vector of b relative to a, the turn's axis times its angle theta, zero in the design position: MuJoCo's
spring of a ball joint. It stores stiffness theta^2 / 2, whose gradient it is, since theta' = axis . w. With the rotation R,

    s = sin(theta) axis = (R_zy - R_yz, R_xz - R_zx, R_yx - R_xy) / 2,    c = cos(theta) = (tr R - 1) / 2,
    phi = s theta / |s|,    theta = atan2(|s|, c)

and near theta = 0 by the series of arcsin. After exactly half a turn it could go back either way, and has no direction.
"""

from ..numbers import Number, atan2, less, select, sqrt
from ..spatial import Force, Matrix, Vector
from ..spatial.vector import ZERO
from .base import BodyForce, BodyState, Settings, Wrenches

SMALL = 1e-4  # of |s|^2: the first term that the series leaves out is 2e-2 |s|^10, less than rounding


class TurningSpring(BodyForce):
    kind = "turning_spring"
    values = ("stiffness",)

    @staticmethod
    def wrenches(a: BodyState, b: BodyState, given: Settings) -> Wrenches:
        k = given.value("stiffness")
        axes = a.R.times(given.axes_a)
        phi, square = _rotation_vector(axes.transpose().times(b.R.times(given.axes_b)))
        moment = axes @ (phi * k)
        return Wrenches(Force(moment, ZERO), Force(-moment, ZERO), 0.5 * k * square, 0.0, sqrt(moment.dot(moment)))


def _rotation_vector(R: Matrix) -> tuple[Vector, Number]:
    """phi and theta^2."""
    s = Vector(R.z.y - R.y.z, R.x.z - R.z.x, R.y.x - R.x.y) * 0.5
    c = 0.5 * (R.x.x + R.y.y + R.z.z - 1.0)
    x = s.dot(s)
    near = less(select(less(0.0, c), x, 1.0), SMALL)
    series = 1.0 + x * (1 / 6 + x * (3 / 40 + x * (5 / 112 + x * (35 / 1152))))
    sine = sqrt(select(near, 1.0, x))  # whatever is not zero, where it is not used
    theta = atan2(sine, c)
    ratio = select(near, series, theta / sine)
    return s * ratio, select(near, x * ratio * ratio, theta * theta)

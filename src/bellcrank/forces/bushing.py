"""Bushing: linear springs and dampers in three directions and about three axes, between two bodies.

Displacement and rotation of b are taken in axes fixed to a, from the design position, where they vanish. With the relative
rotation as the quaternion (c, s), the rotation is measured by phi = 2 s, which is the rotation vector for small angles, and
the moment is the one whose work is the change of phi.K.phi/2:

    phi' = c w + w x s         w: angular velocity of b relative to a, in a's axes
    moment on b = -(c m + s x m),  m = K phi

Energy and moment hold c and s in products only, which are linear in the rotation matrix R: no angle is singular.

    4 c s = (R_zy - R_yz, R_xz - R_zx, R_yx - R_xy),    4 s s^T = R + R^T - (tr R - 1) 1
"""

from ..numbers import Number, sqrt
from ..spatial import Force, Matrix, Vector
from .base import BodyForce, BodyState, Settings, Wrenches


class Bushing(BodyForce):
    kind = "bushing"
    values = ("kx", "ky", "kz", "krx", "kry", "krz", "cx", "cy", "cz", "crx", "cry", "crz")

    @staticmethod
    def wrenches(a: BodyState, b: BodyState, given: Settings) -> Wrenches:
        k, kr, c, cr = (Vector(*[given.value(f"{name}{axis}") for axis in "xyz"]) for name in ("k", "kr", "c", "cr"))
        axes = a.R.times(given.axes_a)
        inverse = axes.transpose()
        arm_a, at_a, v_a = a.point(given.point_a)
        arm_b, at_b, v_b = b.point(given.point_b)
        d = at_b - at_a
        x, xdot = inverse @ d, inverse @ (v_b - v_a - a.w.cross(d))
        w = inverse @ (b.w - a.w)
        elastic, turned = _torsion(kr, inverse.times(b.R.times(given.axes_b)))
        force, moment = _scaled(k, x) + _scaled(c, xdot), elastic + _scaled(cr, w)
        f, n = axes @ force, axes @ moment
        energy = 0.5 * x.dot(_scaled(k, x)) + turned
        power = -(xdot.dot(_scaled(c, xdot)) + w.dot(_scaled(cr, w)))
        on_b = Force(-(n + arm_b.cross(f)), -f)
        on_a = Force(n + arm_a.cross(f) + d.cross(f), f)
        return Wrenches(on_a, on_b, energy, power, sqrt(f.dot(f)))


def _scaled(k: Vector, x: Vector) -> Vector:
    return Vector(k.x * x.x, k.y * x.y, k.z * x.z)


def _torsion(k: Vector, R: Matrix) -> tuple[Vector, Number]:
    """c m + s x m, and the stored phi.K.phi/2 = 2 s.K.s."""
    odd = Vector(R.z.y - R.y.z, R.x.z - R.z.x, R.y.x - R.x.y)
    even = Vector(R.y.z + R.z.y, R.z.x + R.x.z, R.x.y + R.y.x)
    bend = _scaled(Vector(k.z - k.y, k.x - k.z, k.y - k.x), even)
    x, y, z = R.x.x, R.y.y, R.z.z
    squares = Vector(1.0 + x - y - z, 1.0 - x + y - z, 1.0 - x - y + z)
    return (_scaled(k, odd) + bend) * 0.5, 0.5 * k.dot(squares)

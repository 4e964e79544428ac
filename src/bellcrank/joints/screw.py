"""Screw: turns about its axis and advances by its pitch, in m/rad; q is the angle."""

from __future__ import annotations

from collections.abc import Sequence

from ..constraints import Equation, Frame, Given, X, Y, Z, axes_parallel, d2, point_on_axis
from ..numbers import Number, atan2, sincos
from ..spatial import Force, Matrix, Motion, PlaneTurn, Vector
from ..spatial.vector import ZERO
from .base import NO_DATA, Joint, JointData, JointMotion, angle_about_z


class Screw(Joint):
    kind = "screw"
    has_axis = True
    needs_pitch = True
    turns_freely = True
    plane = True
    q_names = ("",)
    q_units = ("rad",)

    @staticmethod
    def motion(q: Sequence[Number], data: JointData = NO_DATA) -> JointMotion:
        return JointMotion(Vector(0.0, 0.0, data.pitch * q[0]), (PlaneTurn.angle("z", q[0] + data.rest_angle),))

    @staticmethod
    def directions(q: Sequence[Number], data: JointData = NO_DATA) -> tuple[Motion, ...]:
        return (Motion(Vector(0.0, 0.0, 1.0), Vector(0.0, 0.0, data.pitch)),)

    @classmethod
    def efforts(cls, q: Sequence[Number], data: JointData = NO_DATA) -> tuple[Force, ...]:
        """A torque about the axis; the thread turns part of it into a force, which is a reaction."""
        return (Force(Vector(0.0, 0.0, 1.0), ZERO),)

    @staticmethod
    def coordinates(R: Matrix, offset: Vector) -> tuple[Number, ...]:
        return (angle_about_z(R),)

    @staticmethod
    def closing(i: Frame, j: Frame, given: Given) -> list[Equation]:
        """Axes as of a cylindrical joint; slide = pitch * angle, modulo a turn. Exact where the axes are in line."""
        axis, turned = i.axis(Z), j.axis(X)
        slide = d2(i, j, axis)
        expected = sincos(slide.error / given.pitch)
        sine, cosine = i.axis(Y).dot(turned), i.axis(X).dot(turned)
        lag = atan2(sine * expected[1] - cosine * expected[0], cosine * expected[1] + sine * expected[0])
        turn = Force(axis * given.pitch, axis * 0.0)
        rate = slide.rate - turn.n.dot(j.w - i.w)
        known = turn.n.dot(j.known.w - i.known.w)
        thread = Equation(slide.on_i + turn, slide.on_j - turn, slide.gamma + known, -(given.pitch * lag), rate)
        return [*axes_parallel(i, j), *point_on_axis(i, j), thread]

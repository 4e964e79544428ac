"""URDF models for the tests: one with every kind of joint, and shorter ones."""

LINK = """<link name="{name}"><inertial><origin xyz="{center}" rpy="0.1 0.2 0.3"/><mass value="{mass}"/>
<inertia ixx="0.03" ixy="0.002" ixz="-0.001" iyy="0.04" iyz="0.003" izz="0.05"/></inertial>{more}</link>"""

MESHES = """<visual><geometry><mesh filename="package://robot/meshes/{name}.stl"/></geometry></visual>
<collision><geometry><mesh filename="meshes/{name}.stl"/></geometry></collision>"""


def link(name: str, center: str = "0.1 0.05 -0.2", mass: float = 1.5, more: str = "") -> str:
    return LINK.format(name=name, center=center, mass=mass, more=more)


def joint(
    name: str, kind: str, parent: str, child: str, more: str = "", place: str = 'xyz="0.2 0.1 0.3" rpy="0.3 0.2 0.5"'
) -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/><origin {place}/>'
    return f'<joint name="{name}" type="{kind}">{ends}{more}</joint>'


LIMIT = '<limit lower="-1" upper="2" effort="10" velocity="3"/>'
EVERY = "\n".join(
    [
        '<?xml version="1.0"?>',
        '<robot name="every joint" xmlns:controller="http://example.org/controller">',
        link("base", more=MESHES.format(name="base")),
        joint("z_turn", "revolute", "base", "arm", f'<axis xyz="0 2 1"/>{LIMIT}<dynamics damping="0.2" friction="0.1"/>'),
        link("arm"),
        joint("a_spin", "continuous", "base", "wheel", '<axis xyz="1 0 0"/><safety_controller k_velocity="1"/>'),
        link("wheel", "0 0 0.1"),
        joint("slide", "prismatic", "wheel", "slider", f'<axis xyz="0 1 0.5"/>{LIMIT}'),
        link("slider"),
        joint("plane", "planar", "arm", "table", '<axis xyz="0 0 1"/>'),
        link("table"),
        joint("float", "floating", "arm", "bird"),
        link("bird"),
        joint("glue", "fixed", "arm", "sensor"),
        link("sensor", mass=0.3),
        '<link name="frame"/>',
        joint("frame_joint", "fixed", "sensor", "frame"),
        joint("b_far", "revolute", "frame", "finger", f'<axis xyz="0 0 1"/>{LIMIT}'),
        link("finger"),
        '<transmission name="t"><type>simple</type></transmission>',
        '<controller:plugin name="p"/>',
        "</robot>",
    ]
)


def chain(*more: str, head: str = '<robot name="chain">') -> str:
    """Two links and a hinge, and more."""
    return "\n".join([head, link("base"), joint("hinge", "continuous", "base", "arm"), link("arm"), *more, "</robot>"])

"""The sensors as a table: what each measures, its components and units."""

from __future__ import annotations

#: sensor type → (kind of target, component suffixes, unit: of every component; "of the first half, of the second";
#: "of an angle or of a distance", whichever the target is)
SENSOR_TYPES: dict[str, tuple[str, tuple[str, ...], str]] = {
    "position": ("coordinate", ("",), "rad or m"),
    "rate": ("velocity", ("",), "rad/s or m/s"),
    "effort": ("velocity", ("",), "N·m or N"),
    "reaction": ("hinge", (".nx", ".ny", ".nz", ".fx", ".fy", ".fz"), "N·m, N"),
    "node_position": ("node", (".x", ".y", ".z"), "m"),
    "node_orientation": ("node", (".w", ".x", ".y", ".z"), "1"),
    "node_angular_velocity": ("node", (".x", ".y", ".z"), "rad/s"),
    "node_linear_velocity": ("node", (".x", ".y", ".z"), "m/s"),
    "gyro": ("node", (".x", ".y", ".z"), "rad/s"),
    "accelerometer": ("node", (".x", ".y", ".z"), "m/s²"),
    "strain_energy": ("flexible body", ("",), "J"),
    "loop_wrench": ("joining loop", (".nx", ".ny", ".nz", ".fx", ".fy", ".fz"), "N·m, N"),
    "loop_force": ("loop", ("",), "N·m or N"),
    "loop_residual": ("loop", ("",), "rad or m"),
    "loop_closed": ("loop", ("",), "1"),
    "loop_energy_loss": ("loop", ("",), "J"),
    "motor_current": ("motor", ("",), "A"),
    "motor_position": ("motor", ("",), "rad"),
    "motor_rate": ("motor", ("",), "rad/s"),
    "thrust": ("thruster", ("",), "N"),
    "star_tracker": ("node", (".w", ".x", ".y", ".z", ".valid"), "1"),
    "sun_sensor": ("node", (".x", ".y", ".z", ".valid"), "1"),
}

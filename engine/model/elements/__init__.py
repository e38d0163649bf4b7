"""Each kind of element once: dataclasses whose annotated fields carry type, bounds, default, text, unit and column.

facts.py reads such a declaration, reference.py makes the tables of docs/reference/model-format.md of it. A kind that
acts at nodes derives from `facts.Element` and is listed by a field of `System`; a device that becomes bodies derives
from `device.Device` and has a line in `readers/schema_elements.py`.
"""

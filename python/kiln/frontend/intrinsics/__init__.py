"""What the functions of `kiln.language` do, one file a group.

Importing the package registers them all with `kiln.frontend.syntax.calls`.
"""

from kiln.frontend.intrinsics import (
    accesses,
    arithmetic,
    combining,
    creation,
    foreign,
    mathematics,
    order,
    products,
    program,
    random,
    shapes,
)  # fmt: skip
from kiln.frontend.intrinsics.program import GridReached

__all__ = [
    "GridReached", "accesses", "arithmetic", "combining", "creation", "foreign", "mathematics",
    "order", "products", "program", "random", "shapes",
]  # fmt: skip

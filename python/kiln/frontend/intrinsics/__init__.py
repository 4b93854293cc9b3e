"""What the functions of `kiln.language` do, one file a group.

Importing the package registers them all with `kiln.frontend.syntax.calls`.
"""

from kiln.frontend.intrinsics import (
    accesses,
    activations,
    arithmetic,
    bits,
    combining,
    creation,
    foreign,
    mathematics,
    matrices,
    order,
    products,
    program,
    random,
    schedule,
    shapes,
    statistics,
)  # fmt: skip
from kiln.frontend.intrinsics.program import GridReached

__all__ = [
    "GridReached", "accesses", "activations", "arithmetic", "bits", "combining", "creation",
    "foreign", "mathematics", "matrices", "order", "products", "program", "random", "schedule",
    "shapes", "statistics",
]  # fmt: skip

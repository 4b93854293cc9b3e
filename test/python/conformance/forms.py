"""All forms of the suite."""

from __future__ import annotations

from collections.abc import Iterator

import atomics
import caches
import clusters
import elementwise
import moves
import products
from suite import Form


def all_forms() -> Iterator[Form]:
    for part in (elementwise, products, atomics, moves, caches, clusters):
        yield from part.forms()

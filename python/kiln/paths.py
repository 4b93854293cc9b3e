"""Where the parts of an installation are that other languages use."""

from __future__ import annotations

from pathlib import Path


def get_include() -> str:
    """The folder to give a C compiler with -I, for `#include "kiln-c/Launch.h"`.

    In a wheel the library lies beside it, in its parent: `-L` takes that for `-lkiln`. In a build
    tree that is `build/lib`.
    """
    package = Path(__file__).absolute().parent
    # A wheel and the build tree have the headers inside the package, the folder that utils/pack
    # makes has them beside it.
    places = [package / "include", package.parents[1] / "include"]
    for place in places:
        if (place / "kiln-c" / "Version.h").exists():
            return str(place)
    raise FileNotFoundError(f"expected Kiln's headers in {places[0]}, got none")

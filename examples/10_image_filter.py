"""Sharpens a picture: the picture, plus what a 5 x 5 Gaussian blur takes away from it.

    python 10_image_filter.py [picture.png [sharpened.png]]

Without a picture it takes the photograph that scikit-image ships, or draws one if that package
is not installed. An RGB picture of [height, width, 3] bytes is seen as [height, 3 * width]: a
neighbour to the right is then three columns on, and all three channels go through one kernel.
What lies outside counts as black.
"""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import png
from checking import check, check_equal, generator

import kiln

BINOMIAL = (1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16)


@kiln.kernel
def sharpen(
    picture: kiln.View, out: kiln.View, strength: kiln.f32,
    WEIGHTS: kiln.constexpr = BINOMIAL, BH: kiln.constexpr = 16, BW: kiln.constexpr = 128,
):  # fmt: skip
    height, width = picture.shape
    i, j = kiln.grid(kiln.cdiv(height, BH), kiln.cdiv(width, BW))
    y, x = i * BH, j * BW
    blurred = kiln.zeros((BH, BW), kiln.f32)
    for dy in kiln.static_range(5):
        for dx in kiln.static_range(5):
            neighbour = picture.load((y + dy - 2, x + 3 * (dx - 2)), (BH, BW))
            blurred += (WEIGHTS[dy] * WEIGHTS[dx]) * neighbour.to(kiln.f32)
    centre = picture.load((y, x), (BH, BW)).to(kiln.f32)
    sharp = centre + strength * (centre - blurred)
    out.store((y, x), kiln.floor(kiln.clamp(sharp, 0.0, 255.0) + 0.5).to(out.dtype))


def reference(picture: np.ndarray, strength: float) -> np.ndarray:
    h, w, _ = picture.shape
    padded = np.pad(picture.astype(np.float64), ((2, 2), (2, 2), (0, 0)))
    blurred = sum(
        BINOMIAL[dy] * BINOMIAL[dx] * padded[dy : dy + h, dx : dx + w]
        for dy in range(5)
        for dx in range(5)
    )
    return np.clip(picture + strength * (picture - blurred), 0, 255)


def photograph() -> np.ndarray:
    package = importlib.util.find_spec("skimage")
    if package and package.origin:
        return png.read(Path(package.origin).parent / "data" / "astronaut.png")
    return drawing()


def drawing() -> np.ndarray:
    """A lit ball before a striped wall, with a camera's noise: smooth, sharp and random parts."""
    y, x = np.mgrid[-1.0:1.0:384j, -1.25:1.25:480j]
    wall = np.stack([0.35 + 0.25 * (np.sin(25 * x + 9 * y) > 0), 0.3 - 0.2 * y, 0.45 + 0.2 * x], 2)
    z = np.sqrt(np.maximum(0.5 - x * x - y * y, 0))
    light = np.maximum(0.6 * z - 0.5 * x - 0.6 * y, 0) / np.sqrt(0.5)
    ball = np.stack([0.1 + 0.9 * light, 0.05 + 0.5 * light, 0.05 + 0.2 * light], 2)
    scene = np.where((z > 0)[..., None], ball, wall)
    noise = generator().normal(0, 0.02, scene.shape)
    return (np.clip(scene + noise, 0, 1) * 255).astype(np.uint8)


def main(source: str | None = None, target: str = "sharpened.png") -> None:
    picture = png.read(source) if source else photograph()
    h, w, _ = picture.shape
    out = np.empty_like(picture)
    sharpen(picture.reshape(h, 3 * w), out.reshape(h, 3 * w), 1.5)

    expected = reference(picture, 1.5)
    check(f"sharpened picture, {h} x {w}", out, expected, 6e-3)  # the rounding to bytes
    off = np.abs(out - expected) > 0.501
    check_equal("rounded to the nearest byte", off, np.zeros_like(off))

    png.write(target, out)
    check_equal(f"as read again from {Path(target).name}", png.read(target), out)


if __name__ == "__main__":
    main(*sys.argv[1:])

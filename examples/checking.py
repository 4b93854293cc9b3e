"""How every example judges its result: against NumPy in float64, on fresh random input."""

from __future__ import annotations

import os

import numpy as np

SEED = int(os.environ.get("KILN_SEED") or np.random.SeedSequence().entropy % 2**32)


def generator() -> np.random.Generator:
    """Another sequence each run; the seed stands in every failure, for KILN_SEED to repeat it."""
    return np.random.default_rng(SEED)


def check(name: str, result: np.ndarray, reference: np.ndarray, tolerance: float) -> None:
    """Prints one line, and fails if the result is wrong as a whole or in one element.

    The error is ‖x − ref‖ / ‖ref‖. The worst element is the largest |x − ref| / (|ref| + rms), with
    the root mean square of the reference, and may be 16 times the tolerance: over millions of
    elements a normal error reaches six standard deviations.
    """
    result = np.asarray(result).astype(np.float64)
    if result.shape != reference.shape:
        raise AssertionError(f"{name}: expected shape {reference.shape}, got {result.shape}")
    difference = np.abs(result - reference)
    norm = np.linalg.norm(reference.ravel())
    error = np.linalg.norm(difference.ravel()) / norm
    worst = (difference / (np.abs(reference) + norm / np.sqrt(reference.size))).max()
    print(f"{name:48} error {error:.1e}  worst {worst:.1e}")
    if not (error <= tolerance and worst <= 16 * tolerance):  # NaN fails
        raise AssertionError(
            f"{name}: expected an error of at most {tolerance:.1e}, got {error:.1e} "
            f"(worst element {worst:.1e}); repeat with KILN_SEED={SEED}"
        )


def check_equal(name: str, result: np.ndarray, reference: np.ndarray) -> None:
    """The same for integers, which are right or wrong."""
    wrong = int(np.count_nonzero(np.asarray(result) != reference))
    print(f"{name:48} {reference.size} elements, {wrong} wrong")
    if wrong or np.shape(result) != reference.shape:
        raise AssertionError(f"{name}: {wrong} elements differ; repeat with KILN_SEED={SEED}")

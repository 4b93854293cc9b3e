"""Every example runs, on fresh random input, and finds its own result right."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
FILES = sorted(EXAMPLES.glob("[0-9][0-9]_*.py"))

pytestmark = pytest.mark.packed  # one file of each folder runs whole


@pytest.fixture
def load(monkeypatch):
    """Imports an example the way `python examples/NN_name.py` sees it."""
    monkeypatch.syspath_prepend(str(EXAMPLES))

    def load(path: Path):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, path.stem, module)
        spec.loader.exec_module(module)
        return module

    return load


@pytest.mark.parametrize("path", FILES, ids=[path.stem[3:] for path in FILES])
def test_example(path, load, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)  # the image filter writes where it stands
    load(path).main()
    lines = capsys.readouterr().out.splitlines()
    assert lines
    assert all(" error " in line or line.endswith(", 0 wrong") for line in lines)


def test_attention_is_causal_and_full_grouped_and_of_head_sizes_64_80_128(load, capsys):
    load(EXAMPLES / "06_attention.py").main()
    text = capsys.readouterr().out
    for size in (64, 80, 128):
        for mask in ("causal", "full"):
            assert re.search(rf"attention \d+/\d+ heads, d{size}, {mask}, float32 ", text)
    heads = re.findall(r"attention (\d+)/(\d+) heads", text)
    assert any(int(queries) > int(keys) for queries, keys in heads)


def test_matmul_is_of_all_four_transpositions_and_ragged_sizes(load, capsys):
    load(EXAMPLES / "05_matmul.py").main()
    text = capsys.readouterr().out
    for form in ("NN", "NT", "TN", "TT"):
        sizes = re.findall(rf"matmul {form}, (\d+) x (\d+) x (\d+) float32", text)
        assert any(all(int(n) % 16 for n in size) for size in sizes)


def test_one_example_is_in_mlir_text():
    (path,) = EXAMPLES.glob("[0-9][0-9]_*.mlir")
    assert "tile.kernel @" in path.read_text()
    assert path.with_suffix(".py") in FILES


def test_image_filter_on_a_real_picture(load, tmp_path):
    pytest.importorskip("skimage", reason="scikit-image ships the photograph")
    example = load(EXAMPLES / "10_image_filter.py")
    picture = example.photograph()
    assert picture.shape == (512, 512, 3)
    example.main(target=str(tmp_path / "sharp.png"))
    sharp = load(EXAMPLES / "png.py").read(tmp_path / "sharp.png")
    # Sharpening moves neighbours apart, and leaves the picture as bright as it was.
    steps = [np.abs(np.diff(x.astype(float), axis=1)).mean() for x in (picture, sharp)]
    assert steps[1] > 1.2 * steps[0]
    assert abs(sharp.mean() - picture.mean()) < 3


def test_there_is_an_example_of_each_kind():
    kinds = {path.stem[3:] for path in FILES}
    assert kinds >= {
        "vector_add", "softmax", "rmsnorm", "layernorm_dropout", "matmul", "attention",
        "cumsum", "histogram", "dequant_matmul", "image_filter", "swiglu",
    }  # fmt: skip


def test_a_wrong_result_fails(load):
    """The judge itself: one bad element is enough."""
    checking = load(EXAMPLES / "checking.py")
    reference = np.ones((100, 100))
    wrong = reference.astype(np.float32)
    wrong[3, 4] += 1e-3
    checking.check("right", reference.astype(np.float32), reference, 1e-6)
    with pytest.raises(AssertionError, match="KILN_SEED"):
        checking.check("wrong", wrong, reference, 2e-5)
    with pytest.raises(AssertionError, match="KILN_SEED"):
        checking.check("NaN", np.full((100, 100), np.nan), reference, 1e-5)
    with pytest.raises(AssertionError, match="shape"):
        checking.check("shape", wrong[0], reference, 1e-5)
    with pytest.raises(AssertionError, match="1 elements differ"):
        checking.check_equal("integers", np.array([1, 2]), np.array([1, 3]))


def test_png_round_trip(load, tmp_path):
    png = load(EXAMPLES / "png.py")
    for shape in ((10, 7, 3), (1, 1), (5, 300)):
        image = np.random.default_rng().integers(0, 256, shape, dtype=np.uint8)
        png.write(tmp_path / "a.png", image)
        again = png.read(tmp_path / "a.png")
        np.testing.assert_array_equal(again, image.reshape(*shape[:2], -1) + np.zeros(3, int))


def test_png_filters(load):
    """Pictures from elsewhere use all of PNG's filters; ours uses none."""
    png = load(EXAMPLES / "png.py")
    rows = np.random.default_rng().integers(0, 256, (10, 21))
    above = np.vstack([np.zeros((1, 21), int), rows[:-1]])
    left, corner = (np.pad(x, ((0, 0), (3, 0)))[:, :21] for x in (rows, above))
    far = [abs(left + above - corner - x) for x in (left, above, corner)]
    paeth = np.where(
        (far[0] <= far[1]) & (far[0] <= far[2]), left, np.where(far[1] <= far[2], above, corner)
    )
    guesses = [0 * rows, left, above, (left + above) // 2, paeth]
    kinds = np.arange(10) % 5
    filtered = np.stack([(rows - guesses[kind])[y] & 255 for y, kind in enumerate(kinds)])
    lines = np.hstack([kinds[:, None], filtered]).astype(np.uint8).tobytes()
    np.testing.assert_array_equal(png.unfilter(lines, 10, 21, 3), rows)

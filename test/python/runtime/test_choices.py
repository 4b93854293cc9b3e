"""Tunables that a call leaves open have the values of which the model predicts the least time."""

import json
import math

import ml_dtypes
import numpy as np
import pytest

import kiln
from kiln import _native

CANDIDATES = ((64, 128), (64, 128, 192, 256))


@kiln.kernel
def product(
    a: kiln.View, b: kiln.View, c: kiln.View,
    BM: kiln.tunable = kiln.tunable(*CANDIDATES[0]),
    BN: kiln.tunable = kiln.tunable(*CANDIDATES[1]),
):  # fmt: skip
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], BN))
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in range(0, a.shape[1], 64):
        x, y = a.load((i * BM, k), (BM, 64)), b.load((j * BN, k), (BN, 64))
        acc = kiln.dot(x, y.T, acc)
    c.store((i * BM, j * BN), acc.to(c.dtype))


def arrays(m, n, k, dtype=ml_dtypes.bfloat16):
    return np.zeros((m, k), dtype), np.zeros((n, k), dtype), np.zeros((m, n), dtype)


def chosen(m, n, k, target="nvptx:sm_90a", **constants):
    compiled = product.compile(*arrays(m, n, k), target=target, **constants)
    tunables = compiled.metadata["tunables"]
    return tunables["BM"], tunables["BN"]


def test_a_large_product_has_large_tiles_and_few_rows_have_small_ones():
    assert chosen(4096, 4096, 4096) == (128, 256)
    rows, columns = chosen(128, 2048, 4096)
    assert math.ceil(128 / rows) * math.ceil(2048 / columns) >= 16  # tiles for many cores


def test_a_round_less_is_worth_a_smaller_tile():
    # 1224 x 2408 by tiles of 128 x 256 are 100 programs, by 128 x 192 they are 130: one round
    # of 132 cores either way, and of the smaller tile a shorter one.
    assert chosen(1224, 2408, 2080) == (128, 192)


def test_what_a_call_gives_is_kept_and_the_rest_is_chosen():
    assert chosen(4096, 4096, 4096, BM=64)[0] == 64
    assert chosen(4096, 4096, 4096, BM=64, BN=128) == (64, 128)


def test_without_sizes_extents_are_thousands():
    view = kiln.View[kiln.bf16, 2]
    compiled = product.compile(view, view, view, target="nvptx:sm_90a")
    assert compiled.metadata["tunables"]["BM"] in CANDIDATES[0]


def test_the_first_candidates_are_taken_where_a_chip_has_no_model():
    assert chosen(4096, 4096, 4096, target="cpu") == (64, 64)


def test_a_launch_chooses_by_its_sizes_and_is_right(rng):
    for m, n, k in ((70, 90, 130), (128, 300, 64), (70, 90, 130)):
        a, b = (rng.standard_normal(s).astype(ml_dtypes.bfloat16) for s in ((m, k), (n, k)))
        c = np.empty((m, n), ml_dtypes.bfloat16)
        product(a, b, c, _device="emu:sm_90a")
        reference = a.astype(np.float64) @ b.astype(np.float64).T
        error = np.linalg.norm(c.astype(np.float64) - reference) / np.linalg.norm(reference)
        assert error < 4e-3


def test_candidates_that_are_refused_are_left_out_and_if_all_are_the_first_tells():
    @kiln.kernel
    def rows(x: kiln.View, y: kiln.View, B: kiln.tunable = kiln.tunable(0, 16)):
        i = kiln.grid(kiln.cdiv(x.shape[0], B))
        y.store(i * B, x.load(i * B, B))

    x = np.arange(40, dtype=np.float32)
    y = np.zeros_like(x)
    rows(x, y)
    assert np.array_equal(x, y)

    @kiln.kernel
    def none(x: kiln.View, y: kiln.View, B: kiln.tunable = kiln.tunable(0, -1)):
        i = kiln.grid(kiln.cdiv(x.shape[0], B))
        y.store(i * B, x.load(i * B, B))

    with pytest.raises(kiln.CompileError):
        none(x, y)


def test_a_pinned_grid_wants_all_values():
    with pytest.raises(kiln.LaunchError, match="`?BM`?.*a launch that pins the grid"):
        product[(1, 1)](*arrays(64, 64, 64), _device="emu:sm_90a")
    product[(1, 1)](*arrays(64, 64, 64), BM=64, BN=64, _device="emu:sm_90a")


# ===----------------------------------------------------------------------------------------------


def described(function, *arguments, target="nvptx:sm_90a", **constants):
    compiled = function.compile(
        *arguments, target=target, _pipeline="model=true stop-after=tile", **constants
    )
    return compiled.metadata


def test_the_model_is_the_form_that_its_page_gives():
    m, n, k = 3000, 5000, 2112
    operands = arrays(m, n, k)
    model = described(product, *operands, BM=128, BN=256)["model"]
    products, loaded = 128 * 256 * 64 / 2048 / 1830 / 0.9, (128 + 256) * 128
    cache, arriving = 1e-3 * loaded * 132 / 11800, loaded / 64 / 1980
    loop = model["loops"][0]
    assert [loop["us"], loop["cache_us"], loop["arriving_us"]] == pytest.approx(
        [products, cache, arriving]
    )
    trip = max(products, cache) + min(products, cache) / 16
    end = 1e-3 * 128 * 256 * 2 * 132 / 3890
    rounds = math.ceil(math.ceil(m / 128) * math.ceil(n / 256) / 132)
    core = rounds * (math.ceil(k / 64) * trip + end + 1)
    memory = 2 * (m * k + n * k + m * n) / 3.89e6
    expected = 5 + max(core, memory) + min(core, memory) / 16
    assert _native.Model.read(json.dumps(model)).predict(list(operands)) == pytest.approx(expected)


def test_rows_amid_sectors_cost_more_and_have_clusters():
    whole = described(product, *arrays(4096, 4096, 4096), BM=128, BN=256)["model"]
    split = described(product, *arrays(4096, 4096, 4104), BM=128, BN=256)["model"]
    assert whole["cluster"] == [1, 1, 1] and split["cluster"] == [2, 1, 1]
    assert split["loops"][0]["us"] == pytest.approx(1.05 * whole["loops"][0]["us"])
    bytes_ = 1.05 * (128 + 256 / 2) * 128
    assert split["loops"][0]["cache_us"] == pytest.approx(1e-3 * bytes_ * 132 / 7000)


def test_trips_that_hang_on_the_program_are_those_of_the_middle_one():
    @kiln.kernel
    def causal(a: kiln.View, b: kiln.View, c: kiln.View):
        i = kiln.grid(kiln.cdiv(a.shape[0], 64))
        acc = kiln.zeros((64, 64), kiln.f32)
        for k in range(0, (i + 1) * 64, 64):
            acc = kiln.dot(a.load((i * 64, k), (64, 64)), b.load((k, 0), (64, 64)), acc)
        c.store((i * 64, 0), acc)

    f32 = np.zeros((64 * 200, 64), np.float32)
    operands = (np.zeros((64 * 200, 64 * 200), np.float32), f32, f32)
    model = described(causal, *operands)["model"]
    model["bytes"] = []
    alone = dict(model, loops=[])
    times = [_native.Model.read(json.dumps(m)).predict(list(operands)) for m in (model, alone)]
    rounds = math.ceil(200 / 132)
    loop = model["loops"][0]
    trip = loop["us"] + max(loop["cache_us"], loop["arriving_us"])
    assert not loop["beside"]
    assert times[0] - times[1] == pytest.approx(rounds * 100 * trip, rel=0.1)


def test_tiles_of_no_power_of_two_are_left_out_where_no_engine_loads():
    assert "no engine loads" in described(
        product, *arrays(4096, 4096, 4099), BM=128, BN=192)["no_model"]["why"]  # fmt: skip
    assert chosen(4803, 3771, 5147)[1] in (64, 128, 256)


def test_a_tile_whose_sums_no_thread_holds_has_no_model():
    @kiln.kernel
    def square(a: kiln.View, b: kiln.View, c: kiln.View):
        i, j = kiln.grid(kiln.cdiv(c.shape[0], 256), kiln.cdiv(c.shape[1], 256))
        acc = kiln.zeros((256, 256), kiln.f32)
        for k in range(0, a.shape[1], 64):
            x, y = a.load((i * 256, k), (256, 64)), b.load((j * 256, k), (256, 64))
            acc = kiln.dot(x, y.T, acc)
        c.store((i * 256, j * 256), acc.to(c.dtype))

    why = described(square, *arrays(512, 512, 512))["no_model"]["why"]
    assert "256 registers of a thread" in why


def test_what_no_size_tells_and_what_a_record_lacks_is_said():
    @kiln.kernel
    def counted(a: kiln.View, n: kiln.View, c: kiln.View):
        i = kiln.grid(a.shape[0])
        acc = kiln.zeros((64, 64), kiln.f32)
        for k in range(0, n[i], 64):
            acc = kiln.dot(a.load((i, k), (64, 64)), a.load((i, k), (64, 64)).T, acc)
        c.store((i, 0), acc)

    f32, i32 = np.zeros((64, 64), np.float32), np.zeros(64, np.int32)
    why = described(counted, f32, i32, f32)["no_model"]
    assert "trips" in why["why"] and why["line"] > 0
    assert (
        "record of cpu"
        in described(product, *arrays(64, 64, 64), target="cpu", BM=64, BN=64)["no_model"]["why"]
    )


@pytest.mark.parametrize(
    "json_text, said",
    [
        ("[]", "a JSON object"),
        ("{", "model"),
        ('{"programs": [0], "cores": 1}', "not there"),
        ('{"numbers": [{"op": "cube", "of": []}]}', "nobody knows"),
        ('{"numbers": [{"op": "addi", "of": [0, 1]}]}', "later"),
        ('{"numbers": [{"op": "constant", "value": 3}], "programs": [0]}', "cores"),
    ],
)
def test_a_model_that_is_none_is_refused(json_text, said):
    with pytest.raises(Exception, match=said):
        _native.Model.read(json_text)


def test_a_model_asks_for_its_arguments():
    text = json.dumps({
        "numbers": [
            {"op": "extent", "argument": 0, "dim": 1},
            {"op": "value", "argument": 1},
            {"op": "ceildivsi", "of": [0, 1]},
        ],
        "programs": [2], "cores": 10, "turn_us": 2.0,
    })  # fmt: skip
    model = _native.Model.read(text)
    assert model.predict([(7, 100), 10]) == 2.0
    assert model.predict([(7, 101), 10]) == 4.0
    for arguments, said in (
        ([(7, 100)], "argument 1"), ([(7,), 10], "argument 0"), ([5, 10], "argument 0"),
        ([(7, 100), 0], "zero"),
    ):  # fmt: skip
        with pytest.raises(Exception, match=said):
            model.predict(arguments)

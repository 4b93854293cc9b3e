"""JAX's arrays go in through DLPack. Each test in a process of its own: JAX starts threads, which
no test that forks may meet."""

import importlib.util

import pytest

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("jax") is None, reason="JAX is not installed"
)

START = """
import jax, jax.numpy as jnp, kiln, numpy as np
from runtime_kernels import add, copy
rng = np.random.default_rng()
"""


def test_jax_arrays_go_in(python):
    python(
        START
        + """
x = rng.standard_normal(1000, dtype=np.float32)
out = np.zeros_like(x)
add(jnp.asarray(x), jnp.asarray(x), out)
np.testing.assert_array_equal(out, x + x)
"""
    )


def test_jax_dtypes(python, tmp_path):
    code = (
        START
        + """
@kiln.kernel
def widen(x: kiln.View, y: kiln.View):
    kiln.grid(1)
    y.store(0, x.load(0, 64).to(kiln.f32))
for dtype in ("float16", "bfloat16", "int8", "uint16", "int32", "bool", "float8_e4m3fn",
              "float8_e5m2", "float4_e2m1fn"):
    x = jnp.asarray(rng.integers(-1, 2, 64)).astype(dtype)
    out = np.zeros(64, np.float32)
    widen(x, out)
    np.testing.assert_array_equal(out, np.asarray(x.astype("float32")), dtype)
"""
    )
    (tmp_path / "dtypes.py").write_text(code)
    python("import runpy, sys; runpy.run_path(sys.argv[1])", str(tmp_path / "dtypes.py"))


@pytest.mark.parametrize(
    "call, words",
    [
        ("jax.jit(lambda x: copy(x, np.zeros(16, np.float32)))(jnp.zeros(16))", "race"),
        ("x = jnp.zeros(16); x.delete(); copy(x, np.zeros(16, np.float32))", "deleted"),
    ],
    ids=["traced", "deleted"],
)
def test_jax_arrays_without_memory_are_refused(python, call, words):
    done = python(START + call, check=False)
    assert done.returncode == 1
    assert "LaunchError: kernel `copy`, argument `x`: expected a tensor whose memory" in done.stderr
    assert words in done.stderr

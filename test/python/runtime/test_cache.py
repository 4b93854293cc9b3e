"""What is kept between processes, and what makes a new entry."""

import json
import os
import textwrap

import pytest

RUN = """
import sys, numpy as np, kiln
sys.path.insert(0, sys.argv[1])
import user
x = np.arange(100, dtype=np.float32)
y = np.zeros_like(x)
user.k(x, y)
print(user.k.warmup(x, y).source_level, y[3])
"""
KERNEL = """
import kiln
from helper import f
FACTOR = {factor}
@kiln.kernel
def k(x: kiln.View, y: kiln.View, BLOCK: kiln.constexpr = 64):
    i = kiln.grid(kiln.cdiv(x.shape[0], BLOCK))
    y.store((i * BLOCK,), f(x.load((i * BLOCK,), (BLOCK,))) * FACTOR)
"""
HELPER = """
import kiln
@kiln.function
def f(x):
    return x + {plus}
"""


@pytest.fixture
def user(tmp_path, python):
    """user(...) runs a kernel of a file in a new process: (where the code came from, result)."""

    def run(factor="2.0", plus="1.0", **environment):
        (tmp_path / "user.py").write_text(textwrap.dedent(KERNEL.format(factor=factor)))
        (tmp_path / "helper.py").write_text(textwrap.dedent(HELPER.format(plus=plus)))
        environment.setdefault("KILN_CACHE_DIR", str(tmp_path / "cache"))
        level, value = python(RUN, str(tmp_path), PYTHONDONTWRITEBYTECODE="1", **environment)[
            -1
        ].split()
        return level, float(value)

    return run


def test_a_second_process_compiles_nothing(user):
    assert user() == ("compiled", 8.0)
    assert user() == ("disk", 8.0)


def test_sources_helpers_and_captured_values_are_in_the_key(user):
    assert user() == ("compiled", 8.0)
    assert user(factor="3.0") == ("compiled", 12.0)
    assert user(plus="2.0") == ("compiled", 10.0)
    assert user() == ("disk", 8.0)


def test_the_same_code_under_another_key_is_not_compiled_again(user, tmp_path):
    assert user() == ("compiled", 8.0)
    for entry in (tmp_path / "cache").rglob("*"):
        assert entry.is_dir() or os.access(entry, os.R_OK)
    # A constant that the code does not depend on: another first key, the same IR.
    assert user(factor="2.0 + 0") == ("disk", 8.0)


def test_memory_only(user):
    assert user(KILN_CACHE_DIR="") == ("compiled", 8.0)
    assert user(KILN_CACHE_DIR="") == ("compiled", 8.0)


def test_damaged_entries_are_compiled_again(user, tmp_path):
    assert user() == ("compiled", 8.0)
    for entry in (tmp_path / "cache").rglob("*"):
        if entry.is_file():
            data = bytearray(entry.read_bytes())
            if data:
                data[len(data) // 2] ^= 0xFF
                entry.write_bytes(bytes(data))
    assert user() == ("compiled", 8.0)
    assert user() == ("disk", 8.0)


def test_a_hostile_cache_directory_that_others_may_write_is_refused(user, tmp_path, python):
    (tmp_path / "cache").mkdir(mode=0o777)
    os.chmod(tmp_path / "cache", 0o777)
    (tmp_path / "user.py").write_text(textwrap.dedent(KERNEL.format(factor=1)))
    (tmp_path / "helper.py").write_text(textwrap.dedent(HELPER.format(plus=1)))
    done = python(RUN, str(tmp_path), check=False, KILN_CACHE_DIR=str(tmp_path / "cache"))
    assert done.returncode != 0
    assert "CacheError" in done.stderr and str(tmp_path / "cache") in done.stderr


def test_many_processes_on_one_cold_cache(user, tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    user()  # the files are written once, so that the threads below only read them
    environment = {"KILN_CACHE_DIR": str(tmp_path / "shared")}
    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(lambda _: user(**environment), range(6)))
    assert [value for _, value in results] == [8.0] * 6
    assert user(**environment) == ("disk", 8.0)


def test_the_state_and_another_directory(python, tmp_path):
    lines = python(
        "import kiln, json, sys\n"
        "import runtime_kernels as k, numpy as np\n"
        "x = np.ones(10, np.float32)\n"
        "kiln.cache.use(sys.argv[1]); k.add(x, x, x.copy())\n"
        "print(json.dumps(kiln.cache.describe()))",
        str(tmp_path / "elsewhere"),
    )
    state = json.loads(lines[-1])
    assert state["directory"] == str(tmp_path / "elsewhere")
    assert state["entries"] >= 1 and state["misses"] >= 1


def test_looking_up_does_not_load_the_compiling_half(python, tmp_path):
    code = (
        "import sys, numpy as np, runtime_kernels as k\n"
        "x = np.ones(10, np.float32)\n"
        "k.add(x, x, x.copy())\n"
        "print(k.add.warmup(x, x, x).source_level, 'kiln.frontend.lowering' in sys.modules)"
    )
    where = {"KILN_CACHE_DIR": str(tmp_path / "c")}
    assert python(code, **where) == ["compiled True"]
    assert python(code, **where) == ["disk False"]

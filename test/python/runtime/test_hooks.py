"""Launch hooks."""

import numpy as np
import pytest
from runtime_kernels import add, checked

import kiln

X = np.ones(32, np.float32)


def test_before_and_after_see_the_launch():
    seen = []
    out = X.copy()
    with kiln.on_launch(
        lambda e: seen.append(("before", e.kernel, e.seconds, float(out[0]))),
        lambda e: seen.append(("after", e.kernel, e.seconds > 0, float(out[0]))),
    ):
        add[(1,)](X, X, out)
    add(X, X, out)
    assert seen == [("before", "add", None, 1.0), ("after", "add", True, 2.0)]


def test_what_an_event_holds():
    events = []
    with kiln.on_launch(events.append):
        add[1](X, X, c=X.copy(), BLOCK=64)
    (event,) = events
    assert set(event.arguments) == {"a", "b", "c", "BLOCK"}
    assert event.arguments["a"] is X and event.grid == (1, 1, 1)
    assert event.compiled.metadata["kernel"] == "add"
    assert event.compiled.constants == {"BLOCK": 64}


def test_after_hooks_run_in_reverse_and_see_errors():
    seen = []
    first = kiln.on_launch(after=lambda e: seen.append(("first", e.error)))
    second = kiln.on_launch(after=lambda e: seen.append(("second", type(e.error))))
    try:
        with pytest.raises(kiln.DeviceAssertError):
            checked(X, 1)
    finally:
        first.remove()
        second.remove()
    assert [s[0] for s in seen] == ["second", "first"]
    assert seen[0][1] is kiln.DeviceAssertError
    second.remove()


def test_a_hook_that_raises_ends_the_launch():
    def refuse(event):
        raise RuntimeError("not now")

    out = X.copy()
    with kiln.on_launch(refuse), pytest.raises(RuntimeError, match="not now"):
        add(X, X, out)
    np.testing.assert_array_equal(out, 1)
    with pytest.raises(TypeError, match="expected a function"):
        kiln.on_launch(3)

"""A line on the terminal while something takes long; nothing where nobody watches."""

from __future__ import annotations

import sys
import threading
from time import monotonic


class Progress:
    """`with Progress("compiling add"):` shows the text and the seconds, from the first one on."""

    def __init__(self, text: str, delay: float = 1.0):
        self.text = text
        self._delay = delay
        self._done = threading.Event()
        self._thread: threading.Thread | None = None
        self._shown = False

    def __enter__(self) -> Progress:
        if sys.stderr is not None and sys.stderr.isatty():
            self._thread = threading.Thread(target=self._run, daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        if self._thread is not None:
            self._thread.join()
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def _run(self) -> None:
        start = monotonic()
        if self._done.wait(self._delay):
            return
        while True:
            self._shown = True
            sys.stderr.write(f"\r\x1b[K{self.text} … {monotonic() - start:.0f} s")
            sys.stderr.flush()
            if self._done.wait(0.5):
                return

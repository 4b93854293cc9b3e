"""What a launch on an emulated chip did, by lines of its source: as text, as HTML with a timeline.

The runtime counts (lib/Runtime/Emulated/Profile.h) if `KILN_EMULATED_PROFILE` is set when a kernel
is launched. `Executable.describe()` then has it.
"""

from __future__ import annotations

import html
import json
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_VARIABLE = "KILN_EMULATED_PROFILE"
UNIT = (
    "A step is one access, instruction or trip of a loop of one thread; who waits goes on at the "
    "step of whom it waited for, and engines take no time. Steps are not cycles of a chip."
)
# In the order of the columns, with the colour in a timeline.
CLASSES = {
    "global load": "#4e79a7", "global store": "#2f4b6e", "global atomic": "#1b2f47",
    "shared load": "#59a14f", "shared store": "#2f6b28", "shared atomic": "#1d4419",
    "tensor memory": "#76b7b2", "copy": "#edc948", "product": "#e15759", "barrier": "#b07aa1",
    "wait": "#9c755f", "loop": "#bab0ac", "other": "#d4d4d4",
}  # fmt: skip
_WAITING = "#ffffff"
_SUMS = ("bytes", "cycles", "fewest_cycles", "sectors", "waits", "waited", "scalars")


@contextmanager
def profiled() -> Iterator[None]:
    """Launches on emulated chips are counted inside."""
    before = os.environ.get(_VARIABLE)
    os.environ[_VARIABLE] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_VARIABLE]
        else:
            os.environ[_VARIABLE] = before


def spell_work(work: Counter[str]) -> str:
    steps, *others = (f"{count} {what}" for what, count in work.items())
    return f"{steps}; of warps {', '.join(others)}"


class Profile:
    """What the last launch of an executable did."""

    def __init__(self, executable: Any, name: str, device: str):
        self.told = json.loads(executable.describe())["profile"]
        self.name, self.device = name, device
        self._sources: dict[str, list[str]] = {}

    def count(self, *classes: str) -> int:
        """Instructions of warps of some classes."""
        return sum(s.get("warps", 0) for s in self.told["sites"] if s["class"] in classes)

    def work(self) -> Counter[str]:
        """What was run, and so checked: steps of threads, the rest of warps."""
        memory = [c for c in CLASSES if c.startswith(("global", "shared", "tensor"))]
        return Counter(
            {
                "steps": self.told["steps"],
                "accesses": self.count(*memory),
                "barriers and waits": self.count("barrier", "wait"),
                "copies": self.count("copy"),
                "products": self.count("product"),
            }
        )

    def summary(self) -> str:
        """One line: what was run, and so checked."""
        told = self.told
        return (
            f"{self.name} on {self.device}: {told['clusters']} × {told['threads']} threads, "
            f"{spell_work(self.work())}"
        )

    def lines(self) -> dict[tuple[str, int], dict[str, Any]]:
        """By file and line: instructions of warps by class, and sums."""
        found: dict[tuple[str, int], dict[str, Any]] = {}
        for site in self.told["sites"]:
            where = (site.get("file", ""), site.get("line", 0))
            line = found.setdefault(where, {"classes": {}, **dict.fromkeys(_SUMS, 0)})
            classes = line["classes"]
            classes[site["class"]] = classes.get(site["class"], 0) + site.get("warps", 0)
            for key in _SUMS:
                line[key] += site.get(key, 0)
        return dict(sorted(found.items()))

    def _source(self, file: str, line: int) -> str:
        if file not in self._sources:
            try:
                self._sources[file] = Path(file).read_text(encoding="utf-8").splitlines()
            except (OSError, ValueError):
                self._sources[file] = []
        text = self._sources[file]
        return text[line - 1].strip() if 0 < line <= len(text) else ""

    def _cut(self) -> str:
        return "; the launch is too long to keep all of it" if self.told["cut"] else ""

    # ---- As text

    def text(self) -> str:
        out = [self.summary(), UNIT, ""]
        before = None
        for (file, line), counts in self.lines().items():
            if file != before:
                out.append(file or "(of no line)")
                before = file
            out.append(f"{line:5}  {self._source(file, line)}".rstrip())
            out += [f"         {part}" for part in _parts(counts)]
        out += ["", f"each warp's time, by the thread that did most{self._cut()}"]
        for warp in self.told["timeline"]:
            spans = warp["spans"]
            end = spans[-1][1] if spans else 0
            waited = sum(last - first for first, last, _, waits in spans if waits)
            out.append(f"  {_who(warp)}: {end} steps, {waited} of them waiting")
        return "\n".join(out) + "\n"

    # ---- As HTML

    def html(self) -> str:
        columns = [c for c in CLASSES if self.count(c)]
        title = html.escape(f"{self.name} on {self.device}")
        head = "".join(f"<th>{c}</th>" for c in columns)
        rows = []
        for (file, line), counts in self.lines().items():
            numbers = [counts["classes"].get(c, 0) for c in columns]
            conflicts = counts["cycles"] - counts["fewest_cycles"]
            waits = f"{counts['waited'] / counts['waits']:.1f}" if counts["waits"] else ""
            numbers += [counts["scalars"], conflicts, counts["sectors"], counts["bytes"]]
            cells = "".join(f"<td>{n or ''}</td>" for n in [*numbers, counts["waits"], waits])
            place = html.escape(f"{Path(file).name}:{line}" if file else "(of no line)")
            source = html.escape(self._source(file, line))
            rows.append(f"<tr><th>{place}</th><td class=s>{source}</td>{cells}</tr>")
        legend = "".join(
            f'<span><i style="background:{CLASSES[c]}"></i>{c}</span>' for c in columns
        )
        return (
            f"<!DOCTYPE html><html><head><meta charset=utf-8><title>{title}</title>"
            f"<style>{_STYLE}</style></head><body><h1>{title}</h1><p>{html.escape(self.summary())}"
            f"</p><h2>By line</h2><p>Instructions are those of warps.</p><table><tr><th>line</th>"
            f"<th>source</th>{head}<th>scalar</th><th>bank conflicts</th><th>sectors</th>"
            f"<th>bytes</th><th>waits</th><th>steps a wait</th></tr>{''.join(rows)}</table>"
            f"<h2>By warp</h2><p>{UNIT} Of each warp the thread that did most, in the "
            f"first program{self._cut()}.</p><p class=l>{legend}<span><i></i>waits</span></p>"
            f"{self._timeline()}"
            "</body></html>\n"
        )

    def _timeline(self) -> str:
        """Time goes to the right; spans of one class that follow one another are one."""
        sites = {site["site"]: site for site in self.told["sites"]}
        warps = self.told["timeline"]
        end = max((w["spans"][-1][1] for w in warps if w["spans"]), default=1)
        left, width, height = 170, 1200, 16
        scale = width / end
        out = []
        for row, warp in enumerate(warps):
            y = row * (height + 4)
            out.append(f'<text x="0" y="{y + 12}">{html.escape(_who(warp))}</text>')
            drawn = -1
            for first, last, number, waits in _merged(warp["spans"], sites):
                # What lies between two points that can be told apart is not drawn.
                if int(last * scale * 2) == drawn:
                    continue
                drawn = int(last * scale * 2)
                site = sites.get(number, {"class": "other", "name": ""})
                colour = _WAITING if waits else CLASSES[site["class"]]
                what = "waits at" if waits else "runs"
                place = f"{Path(site.get('file', '')).name}:{site.get('line', 0)}"
                tip = html.escape(f"steps {first} to {last}: {what} {site['name']}, {place}")
                out.append(
                    f'<rect x="{left + first * scale:.1f}" y="{y}" '
                    f'width="{max((last - first) * scale, 0.3):.1f}" height="{height}" '
                    f'fill="{colour}"><title>{tip}</title></rect>'
                )
        y = len(warps) * (height + 4)
        out += [f'<text x="{left + width * i // 4}" y="{y + 14}">{end * i // 4}</text>'
                for i in range(5)]  # fmt: skip
        return f'<svg width="{left + width + 60}" height="{y + 20}">{"".join(out)}</svg>'


_STYLE = (
    "body{font:14px sans-serif}table{border-collapse:collapse}td,th{border:1px solid #ccc;"
    "padding:1px 6px;text-align:right}td.s{text-align:left;font-family:monospace;white-space:pre}"
    "svg{background:#f4f4f4}svg text{font-size:12px}i{display:inline-block;width:12px;height:12px;"
    "border:1px solid #888;margin:0 4px}p.l span{margin-right:14px}"
)


def _who(warp: dict[str, Any]) -> str:
    block = f"block {warp['block']}, " if warp["block"] else ""
    role = f" ({warp['role']})" if warp["role"] else ""
    return f"{block}warp {warp['warp']}{role}"


def _parts(counts: dict[str, Any]) -> list[str]:
    """What is told of a line, by what it is about."""
    classes = [f"{n} {c}" for c in CLASSES if (n := counts["classes"].get(c))]
    if counts["scalars"]:
        classes.append(f"{counts['scalars']} scalar")
    parts = ["instructions: " + ", ".join(classes)] if classes else []
    memory = []
    if counts["bytes"]:
        memory.append(f"{counts['bytes']} bytes")
    if counts["sectors"]:
        memory.append(f"{counts['sectors']} sectors of 32 bytes")
    if counts["cycles"]:
        conflicts = counts["cycles"] - counts["fewest_cycles"]
        memory.append(f"{counts['cycles']} cycles of shared memory, {conflicts} by bank conflicts")
    if memory:
        parts.append("memory: " + ", ".join(memory))
    if counts["waits"]:
        mean = counts["waited"] / counts["waits"]
        parts.append(f"waits: {counts['waits']} of threads, {mean:.1f} steps each")
    return parts


def _merged(spans: list[list], sites: dict[int, dict[str, Any]]) -> list[list]:
    """Neighbours of one class and line as one."""

    def key(span: list) -> tuple:
        site = sites.get(span[2], {})
        return site.get("class"), site.get("file"), site.get("line"), span[3]

    merged: list[list] = []
    for span in spans:
        if merged and merged[-1][1] == span[0] and key(merged[-1]) == key(span):
            merged[-1][1] = span[1]
        else:
            merged.append(list(span))
    return merged

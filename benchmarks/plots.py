"""Draws kept measurements: bars of our rate over each peer's, and of times over their limits."""

from __future__ import annotations

from pathlib import Path

WIDEST = 2.0
"""Where a bar is cut off: what is so much faster is said in figures."""
COLOURS = {True: "#2a7f62", False: "#b5523b"}
# What the README shows: of each suite the bars against the strongest peer.
SUMMARY = {"gemm": "cublas", "attention": "cudnn", "memory": "memcpy"}
NAMES = {"cublas": "cuBLAS", "cudnn": "cuDNN", "memcpy": "a copy of as many bytes"}


def bar(line: dict) -> tuple[str, float, str, bool]:
    """A measurement's label, its ratio (above 1 is better), its figure, and whether it is met."""
    if "asked" in line:
        label = f"{line['case']}, to {line['implementation']}"
        return label, line["ratio"], f"{line['ratio']:.2f}", line["ratio"] >= line["asked"]
    ratio = line["limit"] / line["milliseconds"]
    figure = f"{line['milliseconds'] * 1000:.3g} µs of {line['limit'] * 1000:.3g}"
    return f"{line['case']}, {line['implementation']}", ratio, figure, ratio >= 1


def horizontal_bars(bars: list[tuple[str, float, str, bool]], axis: str, file: Path) -> None:
    """One plot as SVG, with its text as text, the same bytes for the same figures."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    style = {"svg.fonttype": "none", "svg.hashsalt": "kiln", "font.family": "sans-serif"}
    with pyplot.rc_context(style):
        figure, axes = pyplot.subplots(figsize=(8.5, 0.8 + 0.24 * len(bars)))
        places = range(len(bars) - 1, -1, -1)
        widths = [min(ratio, WIDEST) for _, ratio, _, _ in bars]
        axes.barh(places, widths, color=[COLOURS[met] for *_, met in bars], height=0.7)
        for place, width, (_, _, shown, _) in zip(places, widths, bars, strict=True):
            axes.text(max(width, 1.0) + 0.02, place, shown, va="center", fontsize=8)
        axes.axvline(1.0, color="#444444", linewidth=1)
        axes.set_yticks(list(places), [label for label, *_ in bars], fontsize=8)
        axes.set_xlim(0, max([1.0, *widths]) + 0.25)
        axes.set_ylim(-0.7, len(bars) - 0.3)
        axes.set_xlabel(axis, fontsize=9)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        figure.tight_layout()
        file.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file, metadata={"Date": None, "Creator": None})
        pyplot.close(figure)
    text = file.read_text(encoding="utf-8")
    file.write_text("\n".join(line.rstrip() for line in text.splitlines()) + "\n", "utf-8")


def summary(suites: dict[str, list[dict]]) -> list[tuple[str, float, str, bool]]:
    bars = []
    for suite, peer in SUMMARY.items():
        for line in suites.get(suite, []):
            if line["implementation"] == peer:
                label = f"{line['case'].removesuffix(', burst')}, to {NAMES[peer]}"
                bars.append((label, *bar(line)[1:]))
    return bars


def draw(suites: dict[str, list[dict]], folder: Path) -> None:
    """A plot for each suite, and the summary."""
    for suite, lines in suites.items():
        rates = "asked" in lines[0]
        axis = "our rate over the peer's" if rates else "the limit over our time"
        horizontal_bars(
            [bar(line) for line in lines], axis, folder / f"{suite.replace(' ', '-')}.svg"
        )
    horizontal_bars(summary(suites), "our rate over the peer's, on an H200", folder / "summary.svg")

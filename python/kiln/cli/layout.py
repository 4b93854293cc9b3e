"""`kiln layout`: draws who holds which element, as text, SVG and PNG."""

from __future__ import annotations

import argparse
import colorsys
import json
import re
import struct
import zlib
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

CELL = 56, 28  # width and height of an element's box, in pixels
LIMIT = 1 << 12  # elements that are still worth a box
# Digits, letters of the parts' names and marks, five rows of three dots each, as octal digits.
FONT = {
    "0": "75557", "1": "26227", "2": "71747", "3": "71717", "4": "55711", "5": "74717",
    "6": "74757", "7": "71122", "8": "75757", "9": "75717", "b": "44757", "l": "22223",
    "o": "00757", "r": "00644", "w": "05577", ":": "02020", "+": "02720", ".": "00002",
}  # fmt: skip


class Drawing(NamedTuple):
    """A grid of elements; each has its holders' names and the number of the first owner."""

    rows: int
    columns: int
    labels: list[list[str]]
    owners: list[int | None]


def add_options(_: str, parser: argparse.ArgumentParser) -> None:
    parser.add_argument("layout", help="as it is printed: 'register = [[0,1]], lane = [[1,0]]', "
                        "also within #tile.layout<...>")  # fmt: skip
    parser.add_argument("--shape", help="the extents, such as 16x8, if the text ends without them")
    parser.add_argument("--svg", metavar="FILE", type=Path, help="draw into an SVG file")
    parser.add_argument("--png", metavar="FILE", type=Path, help="draw into a PNG file")
    parser.set_defaults(handler=handle)


def handle(options: argparse.Namespace) -> None:
    from kiln import _native
    from kiln.cli import Failure

    try:
        described = json.loads(_native.describe_layout(_full_text(options.layout, options.shape)))
    except ValueError as error:
        raise Failure(str(error)) from None
    drawing = _drawing(described)
    if drawing.rows * drawing.columns > LIMIT and (options.svg or options.png):
        raise Failure(f"expected at most {LIMIT} elements to draw, got "
                      f"{drawing.rows * drawing.columns}")  # fmt: skip
    print(facts(described))
    print(ascii_picture(drawing), end="")
    if options.svg:
        options.svg.write_text(svg_picture(drawing), encoding="utf-8")
    if options.png:
        options.png.write_bytes(png_picture(drawing))


def _full_text(text: str, shape: str | None) -> str:
    inner = re.fullmatch(r"\s*#tile\.layout<(.*)>\s*", text, re.DOTALL)
    text = inner[1] if inner else text
    if shape is None:
        if "->" not in text:
            raise ValueError("expected --shape, since the layout's text ends without extents")
        return text
    if "->" in text:
        raise ValueError("expected extents in the text or in --shape, got both")
    if not re.fullmatch(r"\d+(x\d+)*", shape):
        raise ValueError(f"expected a shape such as 16x8, got {shape!r}")
    return f"{text} -> [{shape.replace('x', ',')}]"


def _drawing(described: dict[str, Any]) -> Drawing:
    shape, parts = described["shape"], described["parts"]
    columns = shape[-1] if shape else 1
    labels, owners = [], []
    for places in described["places"]:
        labels.append([_label(parts, place) for place in places])
        owners.append(_owner(parts, places[0]) if places else None)
    return Drawing(len(labels) // columns, columns, labels, owners)


def _label(parts: list[dict[str, Any]], place: list[int]) -> str:
    """`w1 l3:2`: register 2 of lane 3 of warp 1; parts with one value go without saying."""
    named = [f"{p['name'][0]}{v}" for p, v in zip(parts, place, strict=True) if p["size"] > 1]
    return f"{' '.join(reversed(named[1:]))}:{named[0][1:]}" if named[1:] else "".join(named)


def _owner(parts: list[dict[str, Any]], place: list[int]) -> int:
    """A number for all of the place but its first part; for its first if it has no more."""
    numbers = list(zip(parts, place, strict=True))
    number = 0
    for part, value in reversed(numbers[1:] if len(numbers) > 1 else numbers):
        number = number * part["size"] + value
    return number


def facts(described: dict[str, Any]) -> str:
    """One line: what holds how much, and what of it is repeated."""
    parts = described["parts"]
    text = " x ".join(f"{p['size']} {p['name']}s" for p in parts if p["size"] > 1) or "one place"
    text += f" over {'x'.join(map(str, described['shape'])) or 'one element'}"
    free = [f"{p['name']} bits {p['free']:#b}" for p in parts if p["free"]]
    if free:
        text += f"; repeated by {', '.join(free)}"
    if not described["surjective"]:
        text += "; some elements are held by none"
    runs = described["contiguity"]
    if parts and runs and max(runs) > 1:
        text += f"; {max(runs)} consecutive {parts[0]['name']}s along dimension "
        text += str(runs.index(max(runs)))
    return text


def ascii_picture(drawing: Drawing) -> str:
    cells = ["|".join(labels) or "." for labels in drawing.labels]
    width = max(map(len, cells), default=1)
    lines = []
    for row in range(drawing.rows):
        line = cells[row * drawing.columns : (row + 1) * drawing.columns]
        lines.append("  ".join(cell.ljust(width) for cell in line).rstrip())
    return "\n".join(lines) + "\n"


def _color(owner: int | None) -> tuple[int, int, int]:
    """Owners that follow one another are far apart in hue; nobody is white."""
    if owner is None:
        return 255, 255, 255
    red, green, blue = colorsys.hls_to_rgb(owner * 0.618034 % 1.0, 0.8, 0.65)
    return round(red * 255), round(green * 255), round(blue * 255)


def _lines(labels: list[str]) -> list[str]:
    """What fits into a box: the first holder in two lines, and how many others there are."""
    if not labels:
        return []
    who, _, which = labels[0].partition(":")
    more = f"+{len(labels) - 1}" if len(labels) > 1 else ""
    return [who.replace(" ", ""), (f":{which}" if which else "") + more]


def svg_picture(drawing: Drawing) -> str:
    width, height = CELL
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{drawing.columns * width + 1}" '
        f'height="{drawing.rows * height + 1}" font-family="monospace" font-size="11" '
        'text-anchor="middle">'
    ]
    for index, (labels, owner) in enumerate(zip(drawing.labels, drawing.owners, strict=True)):
        x, y = index % drawing.columns * width, index // drawing.columns * height
        out.append(
            f'<g><title>{escape(", ".join(labels))}</title><rect x="{x}.5" y="{y}.5" '
            f'width="{width}" height="{height}" fill="rgb{_color(owner)}" stroke="#555"/>'
        )
        for line, text in enumerate(_lines(labels)):
            out.append(f'<text x="{x + width // 2}" y="{y + 12 + 12 * line}">{escape(text)}</text>')
        out.append("</g>")
    return "\n".join([*out, "</svg>\n"])


def png_picture(drawing: Drawing) -> bytes:
    width, height = CELL
    across, down = drawing.columns * width + 1, drawing.rows * height + 1
    image = [bytearray(b"\x55" * (3 * across)) for _ in range(down)]
    for index, (labels, owner) in enumerate(zip(drawing.labels, drawing.owners, strict=True)):
        x, y = index % drawing.columns * width, index // drawing.columns * height
        fill = bytes(_color(owner)) * (width - 1)
        for row in range(y + 1, y + height):
            image[row][3 * (x + 1) : 3 * (x + width)] = fill
        for line, text in enumerate(_lines(labels)):
            _write(image, text, x + (width - 8 * len(text)) // 2 + 1, y + 2 + 13 * line)
    return _png(across, down, b"".join(b"\0" + bytes(row) for row in image))


def _write(image: list[bytearray], text: str, x: int, y: int) -> None:
    """Dots of two by two pixels."""
    for position, character in enumerate(text):
        for row, bits in enumerate(FONT.get(character, FONT["."])):
            for column in range(3):
                if int(bits) >> (2 - column) & 1:
                    at = 3 * (x + 8 * position + 2 * column)
                    for line in (y + 2 * row, y + 2 * row + 1):
                        image[line][at : at + 6] = bytes(6)


def _png(width: int, height: int, lines: bytes) -> bytes:
    """8 bits of red, green and blue; each line begins with the number of its filter."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(
            ">I", zlib.crc32(kind + body))  # fmt: skip

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
            + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b""))  # fmt: skip

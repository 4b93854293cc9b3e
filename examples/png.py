"""Reads and writes the PNG files that the image example needs: 8 bits, not interlaced."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np

SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}  # by PNG's colour type


def write(path: str | Path, image: np.ndarray) -> None:
    """An array of u8, [height, width, 3] (RGB) or [height, width] (grey)."""
    if image.dtype != np.uint8 or image.ndim not in (2, 3) or image.shape[2:] not in ((), (3,)):
        raise ValueError(f"expected u8 [h, w] or [h, w, 3], got {image.dtype} {image.shape}")
    height, width = image.shape[:2]
    rows = np.ascontiguousarray(image).reshape(height, -1)
    lines = np.pad(rows, ((0, 0), (1, 0))).tobytes()  # each line begins with filter 0, none
    header = struct.pack(">IIBBBBB", width, height, 8, 2 if image.ndim == 3 else 0, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(SIGNATURE)
        for kind, body in ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")):
            file.write(struct.pack(">I", len(body)) + kind + body)
            file.write(struct.pack(">I", zlib.crc32(kind + body)))


def read(path: str | Path) -> np.ndarray:
    """[height, width, 3] of u8; grey becomes RGB, transparency is dropped."""
    data = Path(path).read_bytes()
    if not data.startswith(SIGNATURE):
        raise ValueError(f"expected a PNG file, got {path}")
    at, packed, header = len(SIGNATURE), b"", None
    while at < len(data):
        (size,), kind = struct.unpack(">I", data[at : at + 4]), data[at + 4 : at + 8]
        body = data[at + 8 : at + 8 + size]
        at += size + 12
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            packed += body
    if header is None or header[2] != 8 or header[3] not in CHANNELS or header[6] != 0:
        raise ValueError(f"expected 8 bits, grey or RGB, not interlaced, got {path}")
    width, height, channels = header[0], header[1], CHANNELS[header[3]]
    image = unfilter(zlib.decompress(packed), height, width * channels, channels)
    image = image.reshape(height, width, channels)
    return np.ascontiguousarray(image[..., :3] if channels > 2 else image[..., [0, 0, 0]])


def unfilter(lines: bytes, height: int, width: int, step: int) -> np.ndarray:
    """Undoes the filter of each line: the bytes are differences to the left and to above."""
    out = np.zeros((height, width), np.uint8)
    above = bytes(width)
    for y in range(height):
        start = y * (width + 1)
        kind, line = lines[start], bytearray(lines[start + 1 : start + 1 + width])
        for x in range(width if kind else 0):
            left = line[x - step] if x >= step else 0
            corner = above[x - step] if x >= step else 0
            if kind == 1:
                guess = left
            elif kind == 2:
                guess = above[x]
            elif kind == 3:
                guess = (left + above[x]) // 2
            else:
                base = left + above[x] - corner
                guess = min((left, above[x], corner), key=lambda v: abs(base - v))
            line[x] = (line[x] + guess) & 255
        out[y] = np.frombuffer(bytes(line), np.uint8)
        above = bytes(line)
    return out

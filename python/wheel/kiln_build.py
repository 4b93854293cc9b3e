"""The build backend of pyproject.toml: scikit-build-core's, whose wheel gets a manylinux tag.

The tag is found out from the binaries inside: they may need nothing but libraries that every Linux
has, and the newest version of glibc that one of their symbols asks for is in the tag.
"""

import base64
import csv
import hashlib
import io
import re
import struct
import zipfile
from pathlib import Path

from scikit_build_core import build as _build
from scikit_build_core.build import *  # noqa: F403

# Of those that the manylinux policies allow, all that Kiln could need.
ALLOWED = re.compile(r"(libc|libm|libdl|libpthread|librt)\.so\.\d+|ld-linux-[\w-]+\.so\.\d+")
OLDEST = (2, 17)  # no tag names an older glibc
DYNAMIC, VERNEED = 6, 0x6FFFFFFE
NEEDED, SONAME = 1, 14


class Binary:
    """What a 64-bit little-endian ELF file needs of others."""

    def __init__(self, data):
        self.data, self.needed, self.soname, self.versions = data, [], None, set()
        (start,) = struct.unpack_from("<Q", data, 0x28)
        size, count = struct.unpack_from("<HH", data, 0x3A)
        sections = [struct.unpack_from("<IIQQQQII", data, start + i * size) for i in range(count)]
        for _, kind, _, _, offset, length, link, info in sections:
            if kind == DYNAMIC:
                self._read_dynamic(offset, length, sections[link][4])
            if kind == VERNEED:
                self._read_versions(offset, info, sections[link][4])

    def _text(self, at):
        return self.data[at : self.data.index(b"\0", at)].decode()

    def _read_dynamic(self, offset, length, strings):
        for at in range(offset, offset + length, 16):
            tag, value = struct.unpack_from("<qQ", self.data, at)
            if tag == NEEDED:
                self.needed.append(self._text(strings + value))
            if tag == SONAME:
                self.soname = self._text(strings + value)

    def _read_versions(self, at, count, strings):
        for _ in range(count):
            _, entries, _, first, following = struct.unpack_from("<HHIII", self.data, at)
            entry = at + first
            for _ in range(entries):
                _, _, _, name, step = struct.unpack_from("<IHHII", self.data, entry)
                self.versions.add(self._text(strings + name))
                entry += step
            at += following


def glibc_of(binaries):
    """The (major, minor) of glibc that these files need, or None if they need anything else."""
    newest = OLDEST
    own = {binary.soname for binary in binaries}
    for binary in binaries:
        if not all(ALLOWED.fullmatch(name) or name in own for name in binary.needed):
            return None
        for version in binary.versions:
            found = re.fullmatch(r"GLIBC_(\d+)\.(\d+)(\.\d+)?", version)
            if not found:
                return None
            newest = max(newest, (int(found[1]), int(found[2])))
    return newest


def retag(wheel):
    """Renames a wheel to what its binaries need; returns its new path."""
    with zipfile.ZipFile(wheel) as archive:
        files = [(info, archive.read(info)) for info in archive.infolist()]
    elf = [Binary(data) for _, data in files if data[:6] == b"\x7fELF\2\1"]
    stem, _, platform = wheel.stem.rpartition("-")
    machine = re.fullmatch(r"linux_(\w+)", platform)
    glibc = glibc_of(elf)
    if not elf or not glibc or not machine:
        return wheel
    tag = f"manylinux_{glibc[0]}_{glibc[1]}_{machine[1]}"
    out = wheel.with_name(f"{stem}-{tag}.whl")
    changed = {}
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for info, data in files:
            if info.filename.endswith(".dist-info/WHEEL"):
                data = re.sub(rb"(?m)^(Tag: .*-)" + platform.encode(), rb"\1" + tag.encode(), data)
                digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
                changed[info.filename] = ("sha256=" + digest.decode().rstrip("="), len(data))
            if info.filename.endswith(".dist-info/RECORD"):
                rows = csv.reader(io.StringIO(data.decode()))
                text = io.StringIO()
                writer = csv.writer(text, lineterminator="\n")
                writer.writerows([row[0], *changed.get(row[0], row[1:])] for row in rows)
                data = text.getvalue().encode()
            archive.writestr(info, data, compress_type=zipfile.ZIP_DEFLATED)
    wheel.unlink()
    return out


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = _build.build_wheel(wheel_directory, config_settings, metadata_directory)
    return retag(Path(wheel_directory) / name).name

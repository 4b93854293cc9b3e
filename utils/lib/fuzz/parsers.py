"""Our own parsers, each fed with mutants of what it usually reads (parsers/*.cpp).

Where the build is one of the preset `fuzz`, libFuzzer mutates, led by coverage; otherwise the
program does it blindly.
"""

import json
import random
import re
import struct
import subprocess

import mutants

NAMES = ["text", "syntax", "layout", "target", "artifact", "cache", "request", "launch", "frames"]
TYPE = re.compile(r"!tile\.\w+<[^<>]*(?:<[^<>]*>)?[^<>]*>|#tile\.\w+<[^<>]*(?:<[^<>]*>)?[^<>]*>")
LAYOUTS = [
    "register = [[0,1],[8,0]], lane = [[1,0],[2,0],[4,0]] -> [16, 2]",
    "register = [[1]], lane = [[2],[4]], warp = [] -> [8];offset = [[1],[2],[4]] -> [8]",
    "register = [], lane = [[0,1],[0,2]], warp = [[0,0]] -> [1, 4];lane = [[0,1]] -> [1, 2]",
    "-> []", "offset = [[0,1],[1,1],[2,3]] -> [4, 4]",
]  # fmt: skip
TARGETS = ["cpu", "nvptx:sm_90a", "amdgpu:gfx942", "nvptx", "amdgpu:", "cpu:host", "llvm", "binary"]
REQUESTS = [
    b"\x07\x03\x00k\0cpu\0stop-after=llvm\0a.mlir\0all\0",
    b"\x0f\x00\x01k\0nvptx:sm_90a\0stop-after=asm stop-after=tile\0x\ny\0tile\0layout\0llvmir\0",
    b"\x06\x02\x00\0amdgpu:gfx942\0\0\0asm\0",
]


def metadata():
    """Of artifacts as the compiler makes them, in small."""
    view = {"name": "a", "kind": "view", "type": "f32", "shape": [None, 128], "strides": [None, 1],
            "facts": {"pointer": 16, "strides": [16, 4], "index32": True}}  # fmt: skip
    scalar = {"name": "n", "kind": "scalar", "type": "i64", "facts": {"divisor": 16}}
    abi = [{"kind": "pointer", "arg": 0}, {"kind": "extent", "arg": 0, "dim": 0, "type": "i64"},
           {"kind": "scalar", "arg": 1}, {"kind": "workspace", "bytes": 64}]  # fmt: skip
    return {"kernel": "k", "target": "cpu", "arguments": [view, scalar], "abi": abi, "warps": 4,
            "has_grid": True, "scratch_bytes": 128, "cluster": [1, 1, 1]}  # fmt: skip


def artifact(sections):
    """A file of lib/Binary/Artifact.cpp's format; the harness puts size and checksum right."""
    text = json.dumps(metadata()).encode() + b"\0"
    at = 64 + len(text) + 24 * len(sections)
    names, table, bodies = b"", b"", b""
    start = at + sum(len(name) + 1 for name, _ in sections)
    for name, body in sections:
        table += struct.pack("<IIQQ", at + len(names), len(name), start + len(bodies), len(body))
        names += name + b"\0"
        bodies += body + b"\0"
    head = b"KILNART\0" + struct.pack("<IIQQ", 1, len(sections), 0, len(text) - 1) + b"\0" * 32
    return head + text + table + names + bodies


def frame(kind, body):
    return kind + struct.pack("<Q", len(body)) + body


def seeds(harness, root):
    """What a parser usually reads."""
    if harness == "text":
        return [s.encode() for s in mutants.read_corpus([root / "test"]) if len(s) < 6000]
    if harness == "syntax":
        sections = mutants.read_corpus([root / "test"])
        return [t.encode() for t in sorted({t for s in sections for t in TYPE.findall(s)})]
    if harness in ("layout", "target"):
        return [t.encode() for t in (LAYOUTS if harness == "layout" else TARGETS)]
    files = [artifact([]), artifact([(b"binary", b"\x7fELF"), (b"ir:tile", b"module {}")])]
    if harness == "artifact":
        return files
    if harness == "cache":
        head = b"\x01KILNENT\0\x01a" + b"\0" * 78
        alias = b"\x01KILNENT\0\x01l" + b"\0" * 78 + b"k" * 32
        return [head + f for f in files] + [alias, b"\0machine,pid:[1] 1 100", b"\0"]
    if harness == "request":
        return REQUESTS
    if harness == "frames":
        said = {"severity": 1, "file": "a", "line": 1, "column": 2, "text": "t"}
        error = json.dumps({"code": 2, "message": "wrong"}).encode()
        return [frame(b"d", json.dumps(said).encode()) + frame(b"e", error),
                frame(b"q", b'{"seconds":1}') + frame(b"s", b"module {}")]  # fmt: skip
    rng = random.Random(0)
    return [rng.randbytes(rng.randrange(8, 120)) for _ in range(40)]


def run(campaign):
    tool = str(campaign.build / "bin/kiln-fuzz")
    guided = b"libFuzzer" in subprocess.run([tool, "--harness=target", "-help=1"], check=False,
                                            capture_output=True).stderr  # fmt: skip
    names = [name for name in NAMES if name in map(str, campaign.corpus)] or NAMES
    for name in names:
        folder = campaign.output / f"corpus-{name}"
        folder.mkdir(parents=True, exist_ok=True)
        for number, seed in enumerate(seeds(name, campaign.root)):
            (folder / f"seed-{number}").write_bytes(seed)
        attack(campaign, tool, guided, name, folder, len(names))


def attack(campaign, tool, guided, name, folder, shares):
    """With a share of the campaign's runs, or of its seconds."""
    runs, seconds = campaign.most // shares, campaign.seconds / shares
    kept = campaign.output / f"input-{name}"
    command = [tool, f"--harness={name}", str(folder)]
    if guided:
        most = f"-runs={runs}" if runs else f"-max_total_time={max(1, int(seconds))}"
        command += [most, f"-seed={campaign.seed or 1}",
                    "-timeout=20", "-max_len=6000", "-rss_limit_mb=3000", "-print_final_stats=1",
                    f"-exact_artifact_path={kept}"]  # fmt: skip
    else:
        command += [f"--runs={runs}", f"--seconds={seconds}", f"--seed={campaign.seed}",
                    f"--input-file={kept}"]  # fmt: skip
    limit = seconds + 120 + runs / 100
    try:
        done = subprocess.run(command, capture_output=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        campaign.find(f"{name}: no end within {limit} seconds", kept.read_bytes(), f".{name}")
        return
    said = (done.stdout + done.stderr).decode(errors="replace")
    found = re.search(r"number_of_executed_units: (\d+)|^(\d+) runs", said, re.MULTILINE)
    count = int(found[1] or found[2]) if found else 0
    campaign.runs += count
    campaign.counts[name] = campaign.counts.get(name, 0) + count
    if done.returncode:
        text = kept.read_bytes() if kept.exists() else b""
        campaign.find(f"{name}: exited with {done.returncode}: {said[-3000:]}", text, f".{name}")

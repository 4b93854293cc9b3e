"""The lint checks that read text: sizes, comments, names, hygiene, passes, licence."""

import fnmatch
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# The most lines a file of each kind may have. A file that outgrows its cap is two files.
LINE_CAPS = {
    ".cpp": 800,
    ".c": 800,
    ".h": 300,
    ".td": 500,
    ".py": 800,
    ".pyi": 800,
    ".mlir": 400,
    ".test": 400,
    ".cmake": 300,
    ".sh": 300,
    ".md": 800,
}

# Pages that a script writes: their length is the script's business.
GENERATED = ("docs/reference/",)

# Kinds of files that must open with a comment that says what they are and why.
HEAD_COMMENT = {
    ".cpp": "//",
    ".c": ("//", "/*"),
    ".h": "//",
    ".td": "//",
    ".mlir": "//",
    ".cmake": "#",
    ".sh": "#",
    ".py": ('"""', 'r"""', "#"),
    ".pyi": ('"""', "#"),
}

# Words that only one vendor's code may use. `nvptx` is the name of a target, and a chip is no hip.
VENDOR = re.compile(
    r"nvvm|rocdl|\bsm_\d|\bgfx\d|(?<!nv)ptx|cuda|"
    r"(?-i:\bhip\b|\bHIP\b|\bhip[A-Z]|\bhip_|Hip[A-Z])",
    re.IGNORECASE,
)
# Where the rule holds, and the rooms that are a vendor's own. Single files that are exempt stand in
# vendor-names.txt, each with its reason.
VENDOR_SCOPE = ("include/", "lib/", "tools/", "python/", "cmake/")
VENDOR_ROOM = re.compile(r"/(Target/(NVPTX|AMDGPU)|Runtime/(CUDA|HIP)|Binary)/")


def tracked_files():
    """Every file of the work tree that git does not ignore, relative to the root."""
    listing = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "-co", "--exclude-standard"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [Path(name) for name in sorted(set(listing.split("\0"))) if (ROOT / name).is_file()]


def lines_of(path):
    """The file's lines, or none if it is not text (a picture, say)."""
    try:
        return (ROOT / path).read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        return []


def line_caps(files, options):
    chosen = [
        path for path in files if path.suffix in LINE_CAPS and not str(path).startswith(GENERATED)
    ]
    findings = []
    for path in chosen:
        count, cap = len(lines_of(path)), LINE_CAPS[path.suffix]
        if count > cap:
            findings.append(f"{path}:1: expected at most {cap} lines, got {count}")
    return len(chosen), findings


def head_comments(files, options):
    chosen = [path for path in files if path.suffix in HEAD_COMMENT]
    findings = []
    for path in chosen:
        lines = [line for line in lines_of(path) if line.strip()]
        if lines and lines[0].startswith("#!"):
            lines = lines[1:]
        if not lines or not lines[0].lstrip().startswith(HEAD_COMMENT[path.suffix]):
            findings.append(f"{path}:1: expected a head comment that says what the file is")
    return len(chosen), findings


def vendor_exemptions():
    """Pairs of glob and reason. A line without a reason is an error."""
    pairs = []
    for line in lines_of(Path("utils/lib/vendor-names.txt")):
        if line.strip() and not line.startswith("#"):
            glob, _, reason = line.partition(" ")
            if not reason.strip():
                raise ValueError(f"vendor-names.txt: expected a reason after '{glob}'")
            pairs.append((glob, reason.strip()))
    return pairs


def vendors(files, options):
    exempt = [glob for glob, _ in vendor_exemptions()]
    chosen = [
        path
        for path in files
        if str(path).startswith(VENDOR_SCOPE)
        and not VENDOR_ROOM.search(str(path))
        and not any(fnmatch.fnmatch(str(path), glob) for glob in exempt)
    ]
    findings = []
    for path in chosen:
        for number, line in enumerate(lines_of(path), 1):
            match = VENDOR.search(line)
            if match:
                findings.append(f"{path}:{number}: common code names a vendor: '{match.group()}'")
    unused = [glob for glob in exempt if not any(fnmatch.fnmatch(str(p), glob) for p in files)]
    findings += [f"utils/lib/vendor-names.txt: '{glob}' matches no file" for glob in unused]
    return len(chosen), findings


UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
MACHINE_PATH = re.compile(r"(?<![\w.])/(work|home|root)/")


def hygiene(files, options):
    findings = []
    for path in files:
        text = lines_of(path)
        raw = (ROOT / path).read_bytes()
        if text and not raw.endswith(b"\n"):
            findings.append(f"{path}:{len(text)}: expected a newline at the end of the file")
        for number, line in enumerate(text, 1):
            where = f"{path}:{number}"
            if line != line.rstrip() and path.suffix not in (".md", ".patch"):
                findings.append(f"{where}: trailing space")
            if "\t" in line and path.suffix in (".cpp", ".h", ".td", ".py", ".mlir", ".cmake"):
                findings.append(f"{where}: a tab")
            if re.match(r"(<{7}|>{7}|={7})( |$)", line):
                findings.append(f"{where}: a conflict marker")
            if UNFINISHED.search(line) and path.name != "LICENSE":
                findings.append(f"{where}: unfinished work: {line.strip()[:60]}")
            if MACHINE_PATH.search(line):
                findings.append(f"{where}: a path of one machine: {line.strip()[:60]}")
    return len(files), findings


def test_names(files, options):
    """pytest imports a test by its bare name, so two of one name hide each other."""
    chosen = [path for path in files if path.suffix == ".py" and path.parts[0] == "test"]
    first, findings = {}, []
    for path in chosen:
        if path.name != "conftest.py" and first.setdefault(path.name, path) != path:
            findings.append(f"{path}:1: another test has this name: {first[path.name]}")
    return len(chosen), findings


def passes(files, options):
    """A pass has a file of its own, which someone finds by the pass's name."""
    chosen = [path for path in files if path.suffix == ".cpp" and path.parts[0] == "lib"]
    findings = []
    for path in chosen:
        defined = [line for line in lines_of(path) if line.startswith("#define GEN_PASS_DEF_")]
        if len(defined) > 1:
            findings.append(f"{path}:1: expected one pass in a file, got {len(defined)}")
    return len(chosen), findings


def licence(files, options):
    text = "\n".join(lines_of(Path("LICENSE")))
    findings = []
    for phrase in ("Apache License", "Version 2.0", "LLVM Exceptions"):
        if phrase.lower() not in text.lower():
            findings.append(f"LICENSE:1: expected the words '{phrase}'")
    return 1, findings


CHECKS = {
    "line-caps": line_caps,
    "head-comments": head_comments,
    "vendors": vendors,
    "hygiene": hygiene,
    "test-names": test_names,
    "passes": passes,
    "licence": licence,
}

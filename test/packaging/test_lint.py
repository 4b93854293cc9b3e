"""Each lint check finds what it is there to find."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from packaging_support import ROOT

sys.path.insert(0, str(ROOT / "utils/lib"))
import lint_checks
import lint_tools

OPTIONS = SimpleNamespace(fix=False, tidy=None)


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A work tree of the test's own: write(path, text) adds a file and returns all of them."""
    monkeypatch.setattr(lint_checks, "ROOT", tmp_path)
    monkeypatch.setattr(lint_tools, "ROOT", tmp_path)
    files = []

    def write(path, text):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
        files.append(Path(path))
        return files

    write("utils/lib/vendor-names.txt", "# none\n")
    return write


def findings(check, files):
    return check(files, OPTIONS)[1]


@pytest.mark.parametrize("suffix, cap", sorted(lint_checks.LINE_CAPS.items()))
def test_line_cap(tree, suffix, cap):
    assert not findings(lint_checks.line_caps, tree(f"lib/a{suffix}", "x\n" * cap))
    found = findings(lint_checks.line_caps, tree(f"lib/b{suffix}", "x\n" * (cap + 1)))
    assert found == [f"lib/b{suffix}:1: expected at most {cap} lines, got {cap + 1}"]


@pytest.mark.parametrize(
    "path, bad, good",
    [
        ("lib/a.cpp", "#include <x>\n", "// What it is.\n"),
        ("lib/a.td", "include x\n", "// What it is.\n"),
        ("test/a.mlir", "module {}\n", "// RUN: tile-opt %s\n"),
        ("python/a.py", "import os\n", '"""What it is."""\n'),
        ("utils/a.sh", "#!/bin/sh\necho\n", "#!/bin/sh\n# What it is.\n"),
    ],
)
def test_head_comment(tree, path, bad, good):
    assert findings(lint_checks.head_comments, tree(path, bad))
    assert not findings(lint_checks.head_comments, tree(path, good)[:-1])


@pytest.mark.parametrize(
    "line", ["nvvm.op", "ROCDLOp", "sm_90", "gfx942", "emitPTX", "loadCuda", "hipMalloc", "a HIP x"]
)
def test_vendor_name_in_common_code(tree, line):
    assert findings(lint_checks.vendors, tree("lib/Layout/a.cpp", f"// {line}\n"))


@pytest.mark.parametrize("line", ["nvptx", "the chip", "a relationship", "transform_90", "small_9"])
def test_word_that_only_looks_like_a_vendor(tree, line):
    assert not findings(lint_checks.vendors, tree("lib/Layout/a.cpp", f"// {line}\n"))


@pytest.mark.parametrize(
    "path", ["lib/Target/NVPTX/a.cpp", "lib/Runtime/HIP/a.cpp", "lib/Binary/a.cpp", "docs/a.md"]
)
def test_vendor_name_in_a_vendors_room(tree, path):
    assert not findings(lint_checks.vendors, tree(path, "// cuda hip gfx942\n"))


def test_vendor_exemption_needs_a_reason(tree):
    with pytest.raises(ValueError, match="expected a reason"):
        findings(lint_checks.vendors, tree("utils/lib/vendor-names.txt", "lib/a.cpp\n"))


def test_vendor_exemption_that_matches_nothing(tree):
    files = tree("utils/lib/vendor-names.txt", "lib/gone.cpp it was needed once\n")
    assert "matches no file" in findings(lint_checks.vendors, files)[0]


@pytest.mark.parametrize(
    "text, words",
    [
        ("// x \n", "trailing space"),
        ("//\tx\n", "a tab"),
        ("// x", "newline"),
        ("<" * 7 + " HEAD\n", "conflict"),
        ("// TO" + "DO: x\n", "unfinished"),
        ("// /ho" + "me/me/x\n", "path of one machine"),
    ],
)
def test_hygiene(tree, text, words):
    assert any(words in found for found in findings(lint_checks.hygiene, tree("lib/a.cpp", text)))


def test_two_tests_of_one_name(tree):
    assert not findings(lint_checks.test_names, tree("test/python/a/test_x.py", ""))
    assert findings(lint_checks.test_names, tree("test/python/b/test_x.py", ""))
    assert not findings(lint_checks.test_names, tree("test/python/c/conftest.py", "")[-1:])


def test_clang_format(tree):
    tree(".clang-format", "BasedOnStyle: LLVM\n")
    assert not findings(lint_tools.clang_format, tree("lib/a.cpp", "int x;\n"))
    assert findings(lint_tools.clang_format, tree("lib/b.cpp", "int   x ;\n"))


TIDY = """// {head}
int *{name}() {{
  int *result = {null};
  return result;
}}
"""


@pytest.fixture
def tidy_tree(tree, tmp_path, monkeypatch):
    """A work tree under version control, with the project's own list of checks and a build."""
    clean = TIDY.format(head="Clean.", name="clean", null="nullptr")
    tree(".clang-tidy", (ROOT / ".clang-tidy").read_text())
    tree("lib/clean.cpp", clean)
    for command in (["init", "-q", "-b", "main"], ["add", "."],
                    ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "All"]):  # fmt: skip
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    tree("lib/planted.cpp", TIDY.format(head="A null of C's.", name="planted", null="0"))
    (tmp_path / "compile_commands.json").write_text(
        json.dumps(
            [
                {
                    "directory": str(tmp_path),
                    "file": str(tmp_path / name),
                    "arguments": ["clang++-22", "-c", str(tmp_path / name)],
                }
                for name in ("lib/clean.cpp", "lib/planted.cpp")
            ]  # fmt: skip
        )
    )
    monkeypatch.setenv("KILN_BUILD", str(tmp_path))
    return [Path("lib/clean.cpp"), Path("lib/planted.cpp"), Path(".clang-tidy")]


@pytest.mark.parametrize("which, files", [("all", 2), ("changed", 1)])
def test_clang_tidy(tidy_tree, tmp_path, which, files):
    subprocess.run(["git", "add", "-A"], cwd=tmp_path, check=True)
    count, found = lint_tools.clang_tidy(tidy_tree, SimpleNamespace(fix=False, tidy=which))
    assert count == files
    assert len(found) == 1 and "modernize-use-nullptr" in found[0], found
    assert found[0].startswith("lib/planted.cpp:3:"), found


def test_clang_tidy_needs_a_build(tidy_tree, tmp_path, monkeypatch):
    monkeypatch.setenv("KILN_BUILD", str(tmp_path / "none"))
    with pytest.raises(FileNotFoundError, match="expected a build in .*none, got none"):
        lint_tools.clang_tidy(tidy_tree, SimpleNamespace(fix=False, tidy="all"))


def test_ruff(tree):
    assert not findings(lint_tools.ruff, tree("a.py", '"""A."""\n'))
    assert findings(lint_tools.ruff, tree("b.py", '"""B."""\n\nimport os\n'))


def test_ruff_format(tree):
    assert findings(lint_tools.ruff_format, tree("b.py", "x = {  'a':1 }\n"))


def test_shell(tree):
    assert not findings(lint_tools.shell, tree("a.sh", "# A.\necho a\n"))
    assert findings(lint_tools.shell, tree("b.sh", "# B.\nif then\n"))

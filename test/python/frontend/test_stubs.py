"""What editors see is what there is: the stubs and the package have the same names."""

import ast
from pathlib import Path

import kiln
from kiln import language

FOLDER = Path(language.__file__).resolve().parent


def names(stub: Path) -> set[str]:
    """The public names that a stub gives, those of starred imports left out."""
    out = set()
    for node in ast.parse(stub.read_text()).body:
        if isinstance(node, ast.ImportFrom):
            out |= {alias.asname for alias in node.names if alias.asname}
        elif isinstance(node, ast.ClassDef):
            out.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            out |= {target.id for target in targets}
    return {name for name in out if not name.startswith("_") or name == "__version__"}


def test_the_stub_of_the_language():
    assert names(FOLDER / "__init__.pyi") == set(language.__all__)


def test_the_stub_of_the_package():
    assert names(FOLDER.parent / "__init__.pyi") == set(kiln.__all__) - set(language.__all__)


def test_every_name_is_documented():
    for name in language.__all__:
        assert getattr(language, name).__doc__, name

"""`kiln cache`: what is kept between processes."""

from __future__ import annotations

import argparse
import json
import re
from datetime import datetime
from pathlib import Path

from kiln.cli import CACHE_FAILED, Failure


def add_options(_: str, parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    listed = actions.add_parser("list", help="list the kernels, most recently used first")
    listed.add_argument("--json", action="store_true", help="as JSON")
    show = actions.add_parser("show", help="the metadata of a kernel, or the state of the cache")
    show.add_argument("key", nargs="?", help="the key of an entry, or its beginning")
    prune = actions.add_parser("prune", help="remove what was used least recently")
    prune.add_argument("--max-bytes", type=_size, default=0, metavar="SIZE",
                       help="keep at most so much, as 500M or 2G (default: nothing)")  # fmt: skip
    verify = actions.add_parser("verify", help="read every entry, remove those that are damaged")
    for action in (listed, show, prune, verify):
        action.add_argument("--dir", metavar="DIR", help="another directory than the default, "
                            "$KILN_CACHE_DIR, $XDG_CACHE_HOME/kiln or ~/.cache/kiln")  # fmt: skip
    parser.set_defaults(handler=handle)


def handle(options: argparse.Namespace) -> int:
    from kiln import _native

    cache = _native.Cache.open(options.dir)
    return _ACTIONS[options.action](cache, options) or 0


def _size(text: str) -> int:
    match = re.fullmatch(r"(\d+)([KMG]?)B?", text.strip().upper())
    if not match:
        raise argparse.ArgumentTypeError(f"expected a size such as 500M, got {text!r}")
    return int(match[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[match[2]]


def _list(cache, options: argparse.Namespace) -> None:
    entries = json.loads(cache.list())
    if options.json:
        print(json.dumps(entries, indent=1))
        return
    state = json.loads(cache.describe())
    names: dict[str, int] = {}
    for entry in entries:
        if entry["kind"] == "alias":
            names[entry.get("alias", "")] = names.get(entry.get("alias", ""), 0) + 1
    for entry in entries:
        if entry["kind"] != "artifact":
            continue
        used = datetime.fromtimestamp(entry["used"]).strftime("%Y-%m-%d %H:%M:%S")
        print(f"{entry['key'][:16]}  {entry['bytes']:>9}  {used}  {entry['target']:<16} "
              f"{entry['kernel']}  ({names.get(entry['key'], 0)} names)")  # fmt: skip
    print(f"{state['entries']} entries, {state['bytes']} bytes of {state['max_bytes']} in "
          f"{state['directory'] or 'memory only'}")  # fmt: skip
    if state.get("notice"):
        print(state["notice"])


def _show(cache, options: argparse.Namespace) -> None:
    if options.key is None:
        from kiln.runtime.cache import specialisations

        state = json.loads(cache.describe())
        print(json.dumps({**state, "specialisations": specialisations()}, indent=2))
        return
    entries = json.loads(cache.list())
    found = [e for e in entries if e["key"].startswith(options.key)]
    if len(found) != 1:
        raise Failure(f"expected the beginning of one key, got {options.key!r}, which fits "
                      f"{len(found)}")  # fmt: skip
    artifact = cache.get(bytes.fromhex(found[0]["key"]))
    if artifact is None:
        raise Failure(f"expected an entry under {found[0]['key']}, got a damaged one", CACHE_FAILED)
    sections = {name: len(artifact.section(name)) for name in artifact.sections}
    print(json.dumps({**found[0], "metadata": json.loads(artifact.metadata),
                      "sections": sections}, indent=2))  # fmt: skip


def _prune(cache, options: argparse.Namespace) -> None:
    print(f"removed {cache.prune(options.max_bytes)} entries")
    directory = json.loads(cache.describe())["directory"]
    if directory and not options.max_bytes:
        tuned = list(Path(directory, "autotune").glob("*.json"))
        for file in tuned:
            file.unlink(missing_ok=True)
        print(f"removed {len(tuned)} choices of tuners")


def _verify(cache, _: argparse.Namespace) -> int:
    report = json.loads(cache.verify())
    for entry in report["removed"]:
        print(f"removed {entry['file']}: {entry['reason']}")
    print(f"{report['checked']} entries checked, {len(report['removed'])} removed")
    return 0


_ACTIONS = {"list": _list, "show": _show, "prune": _prune, "verify": _verify}

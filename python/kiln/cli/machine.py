"""`kiln devices`."""

from __future__ import annotations

import argparse
import json


def add_options(_: str, parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON, with every property")
    parser.add_argument("--targets", action="store_true",
                        help="list what can be compiled for instead")  # fmt: skip
    parser.set_defaults(handler=handle)


def handle(options: argparse.Namespace) -> None:
    from kiln.runtime.devices import devices, targets

    entries = targets() if options.targets else devices()
    if options.json:
        print(json.dumps(entries, indent=2))
        return
    for entry in entries:
        if options.targets:
            print("  ".join(str(v) for k, v in entry.items() if not isinstance(v, (dict, list))))
            for chip in entry.get("chips") or ():
                print(f"  {chip if isinstance(chip, str) else chip.get('name', chip)}")
        elif entry.get("available"):
            print(f"{entry['name']:<10} {entry.get('description', '')} (target {entry['target']})")
        else:
            print(f"{entry['name']:<10} absent: {entry.get('reason', 'no reason given')}")

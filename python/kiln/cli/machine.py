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
    from kiln.runtime.devices import devices, in_words, targets

    if options.json:
        print(json.dumps(targets() if options.targets else devices(), indent=2))
        return
    if options.targets:
        for entry in targets():
            print(f"{entry['name']}: {entry['summary']}")
            for spelling in entry["spellings"]:
                print(f"  {spelling}")
        return
    for entry in devices():
        print(f"{entry['name']:<10} {in_words(entry)}")

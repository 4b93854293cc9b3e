#!/bin/sh
# Interesting (exit code 1) as long as the file still sorts something.
if grep -q 'tile.sort' "$1"; then exit 1; else exit 0; fi

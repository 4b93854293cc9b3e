#!/bin/sh
# Runs a command and fails unless it exits with the given code: exits.sh CODE COMMAND...
wanted=$1
shift
"$@"
got=$?
[ $got = "$wanted" ] && exit 0
echo "expected exit code $wanted, got $got" >&2
exit 1

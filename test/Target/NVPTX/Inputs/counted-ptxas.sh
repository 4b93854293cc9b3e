#!/bin/sh
# The real ptxas ($KILN_REAL_PTXAS), with its calls written down in $KILN_CALLS. If $KILN_NO_PIPE is
# set it reads files only.
echo "$@" >> "$KILN_CALLS"
case "$*" in *" /dev/stdin "*) [ -z "$KILN_NO_PIPE" ] || exit 1 ;; esac
exec "$KILN_REAL_PTXAS" "$@"

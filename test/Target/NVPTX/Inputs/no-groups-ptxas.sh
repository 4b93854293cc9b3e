#!/bin/sh
# An assembler that takes no products of groups of warps, and reads files only; else the real ptxas
# ($KILN_REAL_PTXAS).
case "$*" in *" /dev/stdin "*) exit 1 ;; esac
for argument in "$@"; do
  case "$argument" in *.ptx)
    if [ -n "$KILN_NO_WARPS" ] || grep -q wgmma "$argument"; then
      echo "no products of groups" >&2
      exit 1
    fi ;;
  esac
done
exec "$KILN_REAL_PTXAS" "$@"

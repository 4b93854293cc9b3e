#!/bin/sh
# A ptxas of CUDA 11.8, which reads no PTX of version 8.
if [ "$1" = --version ]; then
  echo "Cuda compilation tools, release 11.8, V11.8.89"
  exit 0
fi
echo "ptxas kernel.ptx, line 9; fatal   : Unsupported .version 8.0; current version is '7.8'" >&2
exit 255

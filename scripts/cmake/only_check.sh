#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# only_check.sh COMPILER ARGUMENTS...: runs a compiler that makes no object (-fsyntax-only). Writes a
# text in place of the object, which tells Ninja and ccache that the unit was compiled.
"$@" || exit
while [ $# -gt 1 ]; do
  [ "$1" != -o ] || echo "checked" >"$2"
  shift
done

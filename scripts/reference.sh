#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# reference.sh FOLDER: writes the API reference to FOLDER/html. A public name without a doc comment
# is an error. Skipped (77) without doxygen.
[ $# = 1 ] || { echo "usage: reference.sh FOLDER" >&2; exit 2; }
mkdir -p "$1" && folder=$(readlink -f "$1") || exit 1
cd "$(dirname "$0")/.." || exit 1
command -v doxygen >/dev/null || { echo "skipped: no doxygen"; exit 77; }
version=$(sed -n 's/.*define WARDEN_VERSION_[A-Z]* //p' include/warden/version.hpp | paste -sd.)
{ cat docs/Doxyfile; printf 'OUTPUT_DIRECTORY = "%s"\nPROJECT_NUMBER = %s\n' "$folder" "$version"; } | doxygen -

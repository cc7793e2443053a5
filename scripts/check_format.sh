#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks that every source file is formatted by clang-format 14. Skipped (77) with other versions,
# which format differently.
cd "$(dirname "$0")/.." || exit 1
formatter=$(command -v clang-format-14 || command -v clang-format) || { echo "skipped: no clang-format 14"; exit 77; }
"$formatter" --version | grep -q 'version 14\.' || { echo "skipped: $("$formatter" --version), not 14"; exit 77; }
find include runtime microbench apps templates tests \( -name '*.cu' -o -name '*.cuh' -o -name '*.hpp' -o -name '*.cpp' \) -print0 |
  xargs -0 "$formatter" --dry-run -Werror

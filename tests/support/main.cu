// SPDX-License-Identifier: Apache-2.0
// The main function of every test program: skips by name where there is no device, takes seeds.

#include <warden/runtime.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    bool const one = std::strcmp(argv[i], "--seed") == 0;
    bool const many = std::strcmp(argv[i], "--seeds") == 0;
    if ((!one && !many) || i + 1 == argc) {
      std::fprintf(stderr, "%s: unknown argument \"%s\"; there are --seed N and --seeds N\n",
                   argv[0], argv[i]);
      return 2;
    }
    setenv(one ? "WARDEN_SEED" : "WARDEN_SEEDS", argv[++i], 1);
  }
  if (warden::runtime::device_count() == 0) {
    std::printf("skipped: no CUDA GPU for %s\n", argv[0]);
    return 77;
  }
  return RUN_ALL_TESTS();
}

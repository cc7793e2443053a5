// SPDX-License-Identifier: Apache-2.0
// Errors of the simulated device about launches that no stream or event orders.
#pragma once

#include <warden/simulation.hpp>

#include <gtest/gtest.h>

#include <string>

namespace test {

/// Calls `wait`. Returns true if the simulated device has stopped the launches because sections of
/// both were at one record and nothing orders them.
template <class Wait>
bool sections_met(Wait wait) {
  try {
    wait();
  } catch (warden::sim::misuse_error const& e) {
    std::string const text = e.what();
    bool const met = text.find("overlapping sections") != std::string::npos ||
                     text.find("unordered sections") != std::string::npos ||
                     text.find("data race: ") != std::string::npos;
    EXPECT_TRUE(met) << text;
    return true;
  }
  return false;
}

}  // namespace test

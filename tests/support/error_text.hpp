// SPDX-License-Identifier: Apache-2.0
// What the library says against something, as text.
#pragma once

#include <warden/error.hpp>
#include <warden/stream.hpp>

#include <string>

namespace test {

/// Returns the text of the `Error` that `action` throws; empty if it throws none.
template <class Error, class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (Error const& e) {
    return e.what();
  }
  return "";
}
/// The limit_error that `action` throws; nothing if it throws none.
template <class Action>
std::string refusal(Action action) {
  return error_of<warden::limit_error>(action);
}
/// Returns the text of the error that a guarded array's `wait` throws.
template <class Guarded>
std::string error_text(Guarded& on, warden::stream_ref s = {}) {
  return refusal([&] { on.wait(s); });
}

}  // namespace test

// SPDX-License-Identifier: Apache-2.0
// Begin and end of a program under `warden check`: the schedule that its seed stands for, its last
// error, its findings.

#include "session.hpp"

#include "../sim/machine.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace warden::check {
namespace {

struct error_entry {
  int code;
  char const* name;
  char const* text;
};
constexpr auto errors = std::to_array<error_entry>({
#define WARDEN_ENTRY(name, number, text) {number, #name, text},
    WARDEN_CUDA_ERRORS(WARDEN_ENTRY)
#undef WARDEN_ENTRY
});

error_entry const& entry_of(cudaError_t error) {
  for (error_entry const& e : errors) {
    if (e.code == error) return e;
  }
  return errors.back();
}

thread_local cudaError_t last_error = cudaSuccess;
/// The first error that the program has not asked for.
std::string unread_message;

/// Runs what is still enqueued.
void end_session() {
  guarded([] { sim::last_report(); });
  if (last_error != cudaSuccess) {
    end_with_finding("the program never asked for an error of the CUDA runtime: " + unread_message);
  }
}

/// Writes a program's first finding to the file that WARDEN_FINDING names, or to stderr.
void write_finding(char const* text) {
  static std::atomic_flag written;
  if (written.test_and_set()) return;
  char const* const name = std::getenv("WARDEN_FINDING");
  std::FILE* const file = name == nullptr ? nullptr : std::fopen(name, "w");
  std::fprintf(file == nullptr ? stderr : file, "%s\n", text);
  if (file != nullptr) std::fclose(file);
}

/// Even seeds take priorities, in launches of 20,000 or 2,000 steps; odd ones are random.
struct session {
  session() {
    sim::settings s = sim::current_settings();
    s.order = s.seed % 2 == 0 ? sim::schedule::pct : sim::schedule::random;
    s.pct_horizon = s.seed % 4 == 0 ? 20'000 : 2'000;
    sim::configure(s);
    std::atexit(end_session);
    sim::on_misuse = write_finding;
  }
} const begun;

}  // namespace

cudaError_t fail(int code, std::string const& message) {
  auto const error = static_cast<cudaError_t>(code);
  if (last_error == cudaSuccess) unread_message = message.empty() ? entry_of(error).text : message;
  last_error = error;
  return error;
}

void end_with_finding(std::string const& text) {
  write_finding(text.c_str());
  std::fflush(nullptr);
  std::_Exit(1);
}

}  // namespace warden::check

using namespace warden::check;

cudaError_t cudaPeekAtLastError() { return last_error; }
cudaError_t cudaGetLastError() {
  cudaError_t const error = last_error;
  last_error = cudaSuccess;
  return error;
}
char const* cudaGetErrorName(cudaError_t error) { return entry_of(error).name; }
char const* cudaGetErrorString(cudaError_t error) { return entry_of(error).text; }

/// The C library's `assert`: in device code a finding with the thread.
extern "C" void __assert_fail(char const* condition, char const* file, unsigned line,
                              char const* function) noexcept {
  std::string const text = std::string{file} + ":" + std::to_string(line) + ": " +
                           (function == nullptr ? "" : function) + ": assertion '" + condition +
                           "' failed";
  warden::sim::machine* const m = warden::sim::machine::now;
  if (m != nullptr) m->misuse(text, m->current().where);
  std::fflush(nullptr);
  std::fprintf(stderr, "%s\n", text.c_str());
  std::abort();
}

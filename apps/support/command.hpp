// SPDX-License-Identifier: Apache-2.0
/// @file
/// Parsing and exit codes of the applications' commands.
#pragma once

#include "apps/support/standard_output.hpp"
#include "apps/support/version.hpp"

#include <warden/runtime.hpp>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <new>
#include <optional>
#include <sstream>
#include <string>

namespace apps {

/// Validator for `check` of files and folders to write: refuses an empty name, so that an unset
/// shell variable does not count as an option that is not given.
inline CLI::Validator file_name() {
  return {[](std::string const& name) {
            return std::string{name.empty() ? "the name of the file is empty" : ""};
          },
          ""};
}

/// Adds --version and parses. Returns the exit code if the command ends here: 0 after --help and
/// --version, 2 after an error, which is one line on the standard error stream.
inline std::optional<int> parse_options(CLI::App& app, int argc, char** argv) {
  check_standard_output(app.get_name());
  app.set_version_flag("--version", version_text());
  try {
    app.parse(argc, argv);
  } catch (CLI::Success const& e) {
    std::ostringstream said;
    int const code = app.exit(e, said);
    std::fputs(said.str().c_str(), stdout);
    return code;
  } catch (CLI::ParseError const& e) {
    std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), e.what());
    return 2;
  }
  return std::nullopt;
}

/// Parses the options and calls `action()`, which returns the exit code. An error is one line on
/// the standard error stream; the exit code is 2 for wrong options, otherwise 1. Standard output
/// that cannot be written is an error too.
template <class Action>
int run_host_command(CLI::App& app, int argc, char** argv, Action action) {
  if (auto const code = parse_options(app, argc, argv)) return *code;
  std::string const name = app.get_name();
  std::string wrong;
  try {
    return action();
  } catch (std::bad_alloc const&) {
    wrong = "out of memory on the host";
  } catch (std::exception const& e) {
    wrong = e.what();
  }
  // Some messages begin with the command's name.
  bool const has_name = wrong.starts_with(name + ": ");
  std::fprintf(stderr, "%s%s\n", has_name ? "" : (name + ": ").c_str(), wrong.c_str());
  return 1;
}

/// Runs an action that needs a GPU: without one the exit code is 77.
template <class Action>
int run_command(CLI::App& app, int argc, char** argv, Action action) {
  return run_host_command(app, argc, argv, [&] {
    if (warden::runtime::device_count() != 0) return action();
    std::fprintf(stderr, "%s: no CUDA GPU\n", app.get_name().c_str());
    return 77;
  });
}

}  // namespace apps

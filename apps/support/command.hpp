// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the applications' commands share: how they end.
#pragma once

#include <warden/runtime.hpp>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <new>
#include <string>

namespace apps {

/// Parses and calls `action()`, which returns the exit code. What goes wrong is one line on the
/// standard error stream: then the exit code is 2 for wrong options, otherwise 1.
template <class Action>
int run_host_command(CLI::App& app, int argc, char** argv, Action action) {
  std::string const name = app.get_name();
  try {
    app.parse(argc, argv);
  } catch (CLI::CallForHelp const& e) {
    return app.exit(e);
  } catch (CLI::ParseError const& e) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), e.what());
    return 2;
  }
  std::string wrong;
  try {
    return action();
  } catch (std::bad_alloc const&) {
    wrong = "out of memory on the host";
  } catch (std::exception const& e) {
    wrong = e.what();
  }
  // Some say who they are from.
  bool const has_name = wrong.starts_with(name + ": ");
  std::fprintf(stderr, "%s%s\n", has_name ? "" : (name + ": ").c_str(), wrong.c_str());
  return 1;
}

/// The same for an action that needs a GPU: without one the exit code is 77.
template <class Action>
int run_command(CLI::App& app, int argc, char** argv, Action action) {
  return run_host_command(app, argc, argv, [&] {
    if (warden::runtime::device_count() != 0) return action();
    std::fprintf(stderr, "%s: no CUDA GPU\n", app.get_name().c_str());
    return 77;
  });
}

}  // namespace apps

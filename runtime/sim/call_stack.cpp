// SPDX-License-Identifier: Apache-2.0
// Names code addresses by libbacktrace, which reads the debug information and the symbols of the
// program and of its shared objects; without that library, by the dynamic symbols alone.

#include "call_stack.hpp"

#include <warden/simt/annotations.cuh>

#include <cxxabi.h>
#include <unwind.h>

#if defined(WARDEN_LIBBACKTRACE)
#  include <backtrace.h>
#else
#  include <dlfcn.h>
#endif

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <system_error>
#include <thread>

#define TEXT_OF_(...) #__VA_ARGS__
#define TEXT_OF(...) TEXT_OF_(__VA_ARGS__)

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

namespace {

/// Removes each `part` of `text`.
void remove(std::string& text, std::string_view part) {
  for (std::size_t at; (at = text.find(part)) != std::string::npos;) text.erase(at, part.size());
}

/// A function's qualified name without its return type, parameters and template arguments.
std::string short_name(std::string_view full) {
  std::string name;
  int depth = 0;
  for (std::size_t i = 0; i < full.size(); ++i) {
    char const c = full[i];
    if (depth == 0 && full.substr(i).starts_with("operator")) {
      // Its parentheses, angle brackets and spaces are part of the name.
      std::size_t const parameters = full.find('(', i + (full.substr(i + 8, 2) == "()" ? 10 : 8));
      return name.append(full.substr(i, parameters - i));
    }
    if (c == '(' && depth == 0) return name;
    if (c == '<' || c == '(' || c == '{') ++depth;
    if (depth == 0 && c == ' ') name.clear();
    if (depth == 0 && c != ' ') name.push_back(c);
    if (c == '>' || c == ')' || c == '}') {
      --depth;
      if (c == '}' && depth == 0) name.append("lambda");
    }
  }
  return name;
}

/// Returns the name in the source, "??" if the demangler gives up, as on some lambdas in templates.
std::string demangled(char const* symbol) {
  int status = 0;
  std::unique_ptr<char, decltype(&std::free)> const name{
      abi::__cxa_demangle(symbol, nullptr, nullptr, &status), &std::free};
  if (status == 0) return name.get();
  return std::string_view{symbol}.starts_with("_Z") ? "??" : symbol;
}

std::string readable(char const* symbol) {
  std::string name;
  // For a long name the demangler takes nearly all of the 64 KB of stack that a thread of a kernel
  // has.
  if (std::strlen(symbol) < 256) {
    name = demangled(symbol);
  } else {
    try {
      std::thread{[&] { name = demangled(symbol); }}.join();
    } catch (std::system_error const&) {
      name = "??";  // the process may have no more threads
    }
  }
  remove(name, "(anonymous namespace)::");
  remove(name, TEXT_OF(WARDEN_HOST_ABI) "::");
  remove(name, TEXT_OF(WARDEN_ABI) "::");
  return short_name(name);
}

#if defined(WARDEN_LIBBACKTRACE)
constexpr auto ignore_error = [](void*, char const*, int) {};

backtrace_state* program() {
  static backtrace_state* const state = backtrace_create_state(nullptr, 1, ignore_error, nullptr);
  return state;
}
#endif

/// The name of the function or variable that `address` lies in; empty if unknown.
std::string symbol_at(std::uintptr_t address) {
  std::string name;
#if defined(WARDEN_LIBBACKTRACE)
  auto const take = [](void* to, std::uintptr_t, char const* symbol, std::uintptr_t,
                       std::uintptr_t) {
    if (symbol != nullptr) *static_cast<std::string*>(to) = readable(symbol);
  };
  backtrace_syminfo(program(), address, take, ignore_error, &name);
#else
  Dl_info symbol{};
  if (dladdr(reinterpret_cast<void const*>(address), &symbol) != 0 && symbol.dli_sname != nullptr)
    name = readable(symbol.dli_sname);
#endif
  return name;
}

/// Adds the frames of the call instruction that holds this address.
void add_frames(std::uintptr_t call, std::vector<frame>& to) {
  std::size_t const before = to.size();
#if defined(WARDEN_LIBBACKTRACE)
  auto const add_source = [](void* frames, std::uintptr_t, char const* file, int line,
                             char const* function) {
    if (file == nullptr || function == nullptr) return 0;
    static_cast<std::vector<frame>*>(frames)->push_back(
        {readable(function), file, static_cast<unsigned>(line)});
    return 0;
  };
  backtrace_pcinfo(program(), call, add_source, ignore_error, &to);
#endif
  if (to.size() != before) return;
  std::string const name = symbol_at(call);
  to.push_back({name.empty() ? "??" : name, {}, 0});
}

/// True for functions between the user's code and the scheduler, which tell the user nothing.
bool is_internal(frame const& f) {
  constexpr auto namespaces = std::to_array<std::string_view>(
      {"warden::sim::", "warden::simt::", "warden::cuda_names::", "warden::cuda_detail::", "std::",
       "boost::", "make_fcontext", "__tsan_"});
  // The debug information has the name of an inlined function without its namespace.
  constexpr auto folders = std::to_array<std::string_view>(
      {"runtime/sim/", "runtime/check/", "warden/simt/", "/c++/", "/boost/", "/csu/", "/nptl/"});
  return (f.file.empty() && f.function == "??") ||
         std::ranges::any_of(namespaces, [&](auto s) { return f.function.starts_with(s); }) ||
         std::ranges::any_of(folders, [&](auto s) { return f.file.find(s) != std::string::npos; });
}

}  // namespace

std::vector<frame> frames_of(std::span<void const* const> return_addresses) {
  std::vector<frame> frames;
  // The call ends right before the address that it returns to.
  for (void const* const to : return_addresses)
    add_frames(reinterpret_cast<std::uintptr_t>(to) - 1, frames);
  auto const is_users = [](frame const& f) { return !is_internal(f); };
  frames.erase(std::find_if(frames.rbegin(), frames.rend(), is_users).base(), frames.end());
  frames.erase(frames.begin(), std::ranges::find_if(frames, is_users));
  return frames;
}

std::string variable_at(void const* address) {
  return symbol_at(reinterpret_cast<std::uintptr_t>(address));
}

std::vector<void const*> return_addresses() {
  std::vector<void const*> addresses;
  auto const add = [](_Unwind_Context* function, void* to) {
    static_cast<std::vector<void const*>*>(to)->push_back(
        reinterpret_cast<void const*>(_Unwind_GetIP(function)));
    return _URC_NO_REASON;
  };
  _Unwind_Backtrace(add, &addresses);
  return addresses;
}

std::string to_string(std::span<frame const> frames) {
  std::string text;
  for (frame const& f : frames) {
    text += "\n    at " + f.function;
    if (f.file.empty()) continue;
    text += ", " + f.file.substr(f.file.rfind('/') + 1) + ":" + std::to_string(f.line);
  }
  return text;
}

}  // namespace sim
WARDEN_HOST_NAMESPACE_END

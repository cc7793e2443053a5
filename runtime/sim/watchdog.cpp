// SPDX-License-Identifier: Apache-2.0
// The host thread that watches for loops without a scheduling point.

#include "watchdog.hpp"

#include "call_stack.hpp"
#include "machine.hpp"

#include <execinfo.h>
#include <pthread.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

WARDEN_HOST_NAMESPACE_BEGIN
namespace sim {

/// All of it is static: a signal handler and a thread that is never joined use it.
///
/// Ordering: `stack` and `depth` are written by the watched thread in its signal handler, which
/// then stores `parked` (release). The watching thread reads them after it has seen `parked`
/// (acquire). The watched thread then waits in its handler, so the watching thread may read the
/// machine, too.
struct watcher {
  static inline std::atomic<machine const*> running{nullptr};
  static inline std::atomic<std::uint64_t> most_seconds{0};
  static inline std::atomic<pthread_t> watched{};
  static inline pid_t started_in = 0;

  static inline std::atomic<bool> parked{false}, goes_on{false};
  static inline std::array<void*, 64> stack{};
  static inline int depth = 0;

  static void start() {
    // A forked process has no thread of its parent.
    if (started_in == getpid()) return;
    started_in = getpid();
    // The first call loads a library, which a signal handler must not.
    backtrace(stack.data(), 1);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread{watch}.detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  [[noreturn]] static void watch() {
    using namespace std::chrono_literals;
    constexpr auto pause = 100ms;
    std::uint64_t seen = 0, pauses = 0;
    // Pauses are counted, not time: the program may be stopped as a whole.
    for (;; std::this_thread::sleep_for(pause)) {
      std::uint64_t const now = watchdog::signs_.load(std::memory_order_relaxed);
      std::uint64_t const most = most_seconds.load(std::memory_order_relaxed);
      bool const is_quiet = running.load() != nullptr && most != 0 && now == seen;
      pauses = is_quiet ? pauses + 1 : 0;
      seen = now;
      if (pauses * pause >= std::chrono::seconds{most} && is_quiet) {
        stop(now, most);
        pauses = 0;
      }
    }
  }

  /// Ends the program, unless the watched thread continues at this moment.
  static void stop(std::uint64_t signs, std::uint64_t seconds) {
    struct sigaction parks {};
    parks.sa_sigaction = park;
    parks.sa_flags = SA_SIGINFO;
    sigaction(SIGRTMAX, &parks, nullptr);
    parked.store(false);
    goes_on.store(false);
    pthread_kill(watched.load(), SIGRTMAX);
    while (!parked.load(std::memory_order_acquire)) std::this_thread::yield();
    machine const* const m = running.load();
    if (m == nullptr || watchdog::signs_.load(std::memory_order_relaxed) != signs) {
      goes_on.store(true);
      return;
    }
    // The watched thread may hold a lock that the following needs: then this ends the program.
    std::signal(SIGALRM, SIG_DFL);
    alarm(10);
    std::string const text = "warden: no scheduling point for " + std::to_string(seconds) +
                             " s: " + m->describe_current() +
                             "; a loop that calls nothing of the platform layer never ends: let it "
                             "poll by __ldcg or an atomic, or compile it with -fsanitize=thread as "
                             "docs/race-detector.md says (if it only takes long: "
                             "settings::watchdog_seconds, or WARDEN_WATCHDOG_SECONDS)";
    std::fprintf(stderr, "%s\n", text.c_str());
    std::fflush(stderr);
    std::string const calls = to_string(frames_of({stack.data(), static_cast<std::size_t>(depth)}));
    if (!calls.empty()) std::fprintf(stderr, "%s\n", calls.c_str() + 1);
    std::fflush(nullptr);
    _exit(EXIT_FAILURE);
  }

  /// Notes the call stack of the watched thread and waits.
  static void park(int, siginfo_t*, void* context) {
    std::array<void*, 64> all{};
    int const found = backtrace(all.data(), static_cast<int>(all.size()));
    // Leaves out the frames of this handler. The address is one past the instruction, like the
    // return address of a call.
    auto const* const registers = static_cast<ucontext_t const*>(context);
    auto const at = reinterpret_cast<void*>(registers->uc_mcontext.gregs[REG_RIP]);
    auto const end = all.begin() + found;
    auto const first = std::find(all.begin(), end, at);
    depth = static_cast<int>(std::copy(first, end, stack.begin()) - stack.begin());
    if (depth != 0) stack[0] = static_cast<char*>(stack[0]) + 1;
    parked.store(true, std::memory_order_release);
    timespec const pause{0, 1'000'000};
    while (!goes_on.load()) nanosleep(&pause, nullptr);
  }
};

watchdog::watchdog(machine const& running, std::uint64_t seconds) {
  if (seconds != 0) watcher::start();
  sign_of_life();
  watcher::watched.store(pthread_self());
  watcher::most_seconds.store(seconds);
  watcher::running.store(&running);
}
watchdog::~watchdog() {
  watcher::running.store(nullptr);
  sign_of_life();
}

}  // namespace sim
WARDEN_HOST_NAMESPACE_END

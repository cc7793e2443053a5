// SPDX-License-Identifier: Apache-2.0
// Deferred arms of the comparison: a plain kernel or `send_async` sends the sections of one
// operation to a log, and a run executes them. Only the translation units that define these arms
// include this header.
#pragma once

#include "microbench/contention/warden_arms.cuh"
#include "microbench/support/deferred_senders.cuh"

#include <warden/deferred.cuh>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace contention {

/// Policy of deferred arms.
using logged = warden::policy<warden::options{}, warden::executor::sorted<>>;
/// Policy whose runs have the result of a sequential loop.
using logged_in_order = warden::with_parts<logged, warden::order::sequential>;
/// Policy of the arms `warden` and `warden_bulk`: no option is set.
template <class Operation>
using by_default = warden::policy<warden::options{}, warden::context<typename Operation::context>>;

/// The operation with sections that say whether a log combines them.
template <class Operation, bool Combines>
struct fixed : Operation {
  struct section : Operation::section {
    static constexpr bool combines = Combines;
    __device__ static section combine(
        section a, section b) requires warden::combining<typename Operation::section> {
      return {Operation::section::combine(a, b)};
    }
  };
  struct make {
    __device__ section operator()(std::uint32_t i) const { return {typename Operation::make{}(i)}; }
  };
};

/// Function of `send_async`.
template <class Make>
struct numbered_sections {
  std::uint32_t const* ids;
  Make make;
  __device__ auto operator()(std::uint64_t i) const {
    return warden::to{ids[i], make(static_cast<std::uint32_t>(i))};
  }
};
/// Sender that leaves the kernel to the library.
template <class Ref, class Make>
struct bulk_sender {
  template <class Log>
  void fill_async(Log& log, std::uint32_t const* ids, std::uint32_t n) const {
    warden::send_async(log, n, numbered_sections<Make>{ids, {}});
  }
};

/// Arm that enqueues the kernel of its sender, then the run of its log.
template <class Operation, class Policy, template <class, class> class Sender>
class deferred_arm final : public warden_arm {
 public:
  deferred_arm(typename Operation::record* records, std::uint32_t keys,
               typename Operation::context context)
      : guarded_{records, keys, context} {}
  /// Makes a log with room for exactly n sections.
  void prepare(std::uint32_t n) override {
    if (log_ && log_->capacity() == n) return;
    log_.reset();
    log_.emplace(guarded_, n);
  }
  void run_async(std::uint32_t const* ids, std::uint32_t n) override {
    if constexpr (requires { sender_.fill_async(*log_, ids, n); })
      sender_.fill_async(*log_, ids, n);
    else
      sender_.send_async({log_->ref(), ids, n});
    log_->run();
  }
  void wait() override { guarded_.wait(); }

 private:
  using record = typename Operation::record;
  using section = typename Operation::section;
  using guarded = warden::basic_guarded<Policy, record, section>;
  guarded guarded_;
  std::optional<warden::deferred<Policy, record, section>> log_;
  Sender<typename guarded::deferred_ref, typename Operation::make> sender_;
};
template <class Operation, class Policy, warden::placement Where,
          template <class, class> class Sender>
using deferred_arm_of = deferred_arm<Operation, warden_policy<Operation, Policy, Where>, Sender>;

/// Returns a deferred arm that sets options; null if there is none of that name.
template <class Operation>
std::unique_ptr<warden_arm> make_fixed_arm(std::string const& name,
                                           typename Operation::record* records, std::uint32_t keys,
                                           typename Operation::context context) {
  using warden::placement;
  auto const made = [&]<class Policy, placement Where, template <class, class> class Sender,
                        bool Combines = false>()
                        ->std::unique_ptr<warden_arm> {
    using operation = fixed<Operation, Combines>;
    return std::make_unique<deferred_arm_of<operation, Policy, Where, Sender>>(records, keys,
                                                                               context);
  };
  if (name == "warden_deferred")
    return made.template operator()<logged, placement::in_memory, bench::block_sender>();
  if (name == "warden_deferred_on_chip")
    return made.template operator()<logged, placement::on_chip, bench::block_sender>();
  if (name == "warden_deferred_threads")
    return made.template operator()<logged, placement::on_chip, bench::thread_sender>();
  if (name == "warden_deferred_sequential")
    return made.template operator()<logged_in_order, placement::on_chip, bench::block_sender>();
  if constexpr (warden::combining<typename Operation::section>) {
    if (name == "warden_deferred_combined")
      return made.template operator()<logged, placement::on_chip, bench::block_sender, true>();
  }
  return nullptr;
}

template <class Operation>
std::unique_ptr<warden_arm> make_deferred_arm(std::string const& name,
                                              typename Operation::record* records,
                                              std::uint32_t keys,
                                              typename Operation::context context) {
  auto const by_default_with =
      [&]<template <class, class> class Sender>() -> std::unique_ptr<warden_arm> {
    using arm = deferred_arm<Operation, by_default<Operation>, Sender>;
    return std::make_unique<arm>(records, keys, context);
  };
  if (name == "warden") return by_default_with.template operator()<bench::block_sender>();
  if (name == "warden_bulk") return by_default_with.template operator()<bulk_sender>();
  if constexpr (!requires { Operation::default_arms_alone; })
    return make_fixed_arm<Operation>(name, records, keys, context);
  else
    return nullptr;
}

}  // namespace contention

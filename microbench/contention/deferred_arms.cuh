// SPDX-License-Identifier: Apache-2.0
// Deferred arms of the comparison: a plain kernel sends the sections of one operation to a log, and
// a run executes them. Only the translation units that define these arms include this header.
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
/// Policy of the arm `warden`: no option is set.
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

/// Arm that enqueues the kernel, then the run of its log.
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

template <class Operation>
std::unique_ptr<warden_arm> make_deferred_arm(std::string const& name,
                                              typename Operation::record* records,
                                              std::uint32_t keys,
                                              typename Operation::context context) {
  using warden::placement;
  if (name == "warden")
    return std::make_unique<deferred_arm<Operation, by_default<Operation>, bench::block_sender>>(
        records, keys, context);
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

}  // namespace contention

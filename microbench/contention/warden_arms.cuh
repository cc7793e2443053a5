// SPDX-License-Identifier: Apache-2.0
// Warden arms of the comparison: one operation sent to servers, by executor and placement and in
// the paper's configuration, or deferred.
#pragma once

#include <warden/fused.cuh>

#include <cstdint>
#include <memory>
#include <string>

namespace contention {

/// The operation without the Warden arms that set options.
template <class Operation>
struct with_default_arms : Operation {
  static constexpr bool default_arms_alone = true;
};

/// Kernel that sends the operation's sections.
template <class Operation>
struct delegate {
  std::uint32_t const* ids;
  std::uint32_t n;
  typename Operation::make make;

  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& records) const {
    warden::block_client<Ref> client{records, at};
    warden::detail::load_then_send<8>(
        at, records, n, [&](std::uint64_t i) { return ids[i]; },
        [&](std::uint64_t i, std::uint32_t id, bool valid) {
          client.send(id, make(static_cast<std::uint32_t>(i)), valid);
        });
    client.flush();
  }
};

/// Interface of a Warden arm.
class warden_arm {
 public:
  virtual ~warden_arm() = default;
  /// Prepares for n operations, outside of the measured time. Throws warden::limit_error if that is
  /// impossible.
  virtual void prepare(std::uint32_t) {}
  /// Enqueues operations 0 to n - 1, as one or several launches in one stream.
  virtual void run_async(std::uint32_t const* ids, std::uint32_t n) = 0;
  /// Waits until the operations have run. Throws their error, if any.
  virtual void wait() = 0;
};

template <class Executor>
using executor_policy =
    warden::policy<warden::options{.tuning = {.minimum_blocks_per_multiprocessor = 3}}, Executor>;
using combining_policy = warden::with_values<executor_policy<warden::executor::sorted<>>,
                                             &warden::tuning::combine_in_fused, true>;
template <class Operation, class Policy, warden::placement Where>
using warden_policy =
    warden::with_values<warden::with_parts<Policy, warden::context<typename Operation::context>>,
                        &warden::options::records, Where>;

template <class Operation, class Policy, warden::placement Where>
class warden_arm_of final : public warden_arm {
 public:
  warden_arm_of(typename Operation::record* records, std::uint32_t keys,
                typename Operation::context context)
      : guarded_{records, keys, context} {
    warden::prepare_fused(guarded_);
  }
  void run_async(std::uint32_t const* ids, std::uint32_t n) override {
    bool const simulated = warden::runtime::facts(guarded_.device()).simulated;
    warden::launch_fused(delegate<Operation>{ids, n, {}}, simulated ? 8 : 2048,
                         guarded::policy::block_threads, {}, guarded_);
  }
  void wait() override { guarded_.wait(); }

 private:
  using guarded = warden::basic_guarded<warden_policy<Operation, Policy, Where>,
                                        typename Operation::record, typename Operation::section>;
  guarded guarded_;
};

/// Returns the fused arm of that name; null if there is none. Throws warden::limit_error if it
/// cannot be made, for example on chip with too many records.
template <class Operation>
std::unique_ptr<warden_arm> make_fused_arm(std::string const& name,
                                           typename Operation::record* records, std::uint32_t keys,
                                           typename Operation::context context) {
  using warden::placement;
  using runs = executor_policy<warden::executor::sorted<>>;
  auto const made = [&]<class Policy, placement Where>() -> std::unique_ptr<warden_arm> {
    return std::make_unique<warden_arm_of<Operation, Policy, Where>>(records, keys, context);
  };
  if (name == "warden_paper")
    return made.template operator()<warden::paper_policy, placement::in_memory>();
  if (name == "warden_locks")
    return made
        .template operator()<executor_policy<warden::executor::locks<>>, placement::in_memory>();
  if (name == "warden_runs") return made.template operator()<runs, placement::in_memory>();
  if (name == "warden_runs_on_chip") return made.template operator()<runs, placement::on_chip>();
  if constexpr (warden::combining<typename Operation::section>) {
    if (name == "warden_runs_combined")
      return made.template operator()<combining_policy, placement::in_memory>();
  }
  if constexpr (Operation::has_atomic) {
    using atomics = executor_policy<warden::executor::atomics<>>;
    if (name == "warden_atomics") return made.template operator()<atomics, placement::in_memory>();
    if (name == "warden_atomics_on_chip")
      return made.template operator()<atomics, placement::on_chip>();
  }
  return nullptr;
}

/// Returns a deferred arm of that name; null if there is none. Defined in deferred_arms.cuh, and
/// compiled in the objects `contention_deferred`, because its kernels take long to compile and
/// several programs have them. An operation that has a member `fused_alone` has none. One that has
/// a member `default_arms_alone` has only `warden` and `warden_bulk`.
template <class Operation>
std::unique_ptr<warden_arm> make_deferred_arm(std::string const& name,
                                              typename Operation::record* records,
                                              std::uint32_t keys,
                                              typename Operation::context context);

/// Returns the arm of that name; null if there is none. Throws warden::limit_error if it cannot be
/// made.
template <class Operation>
std::unique_ptr<warden_arm> make_warden_arm(std::string const& name,
                                            typename Operation::record* records, std::uint32_t keys,
                                            typename Operation::context context) {
  if constexpr (!requires { Operation::default_arms_alone; }) {
    if (auto arm = make_fused_arm<Operation>(name, records, keys, context)) return arm;
  }
  if constexpr (requires { Operation::fused_alone; })
    return nullptr;
  else
    return make_deferred_arm<Operation>(name, records, keys, context);
}

/// True if the arm can run the operation on `keys` records.
template <class Operation>
bool has_warden_arm(std::string const& name, std::uint32_t keys) {
  try {
    auto const arm =
        make_warden_arm<Operation>(name, nullptr, keys, Operation::make_context(nullptr));
    if (arm) arm->prepare(1);
    return arm != nullptr;
  } catch (warden::limit_error const&) {
    return false;
  }
}

}  // namespace contention

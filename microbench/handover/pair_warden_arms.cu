// SPDX-License-Identifier: Apache-2.0
// Arms that send sections on two records to the owners of the records.

#include "apps/support/pair_servers.cuh"
#include "microbench/handover/pair_arms.cuh"

#include <warden/fused.cuh>

#include <cstddef>

namespace handover {

namespace {

using warden::placement;

/// Kernel that sends all sections.
struct send_pairs {
  static constexpr unsigned at_once = 4;
  section_pairs all;

  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& records) const {
    warden::block_client<Ref> client{records, at};
    auto const step = static_cast<std::uint32_t>(at.global_size());
    for (std::uint64_t begin = std::uint64_t{at.block_index()} * at.block_dim(); begin < all.n;
         begin += at_once * std::uint64_t{step}) {
      // Loads several ids before the first send: one wait for memory instead of one for each id.
      std::uint32_t first[at_once], second[at_once];
      auto const number = [&](unsigned k) {
        return begin + std::uint64_t{k} * step + at.thread_rank();
      };
      WARDEN_UNROLL
      for (unsigned k = 0; k < at_once; ++k) {
        std::uint64_t const i = number(k) < all.n ? number(k) : begin;
        first[k] = all.firsts[i];
        second[k] = all.seconds[i];
      }
      WARDEN_UNROLL
      for (unsigned k = 0; k < at_once; ++k) {
        client.send(first[k], second[k], make_section{}(static_cast<std::uint32_t>(number(k))),
                    number(k) < all.n);
      }
    }
    client.flush();
  }
};

template <class Policy>
class warden_arm final : public pair_arm {
 public:
  warden_arm(pair_record* records, std::uint32_t keys, warden::guarded_options const& options)
      : guarded_{records, keys, {}, options} {
    warden::prepare_fused(guarded_);
  }

  void run_async(section_pairs const& all) override {
    warden::launch_fused(send_pairs{all}, apps::client_blocks(), Policy::block_threads, {},
                         guarded_);
  }
  void wait() override { guarded_.wait(); }
  /// Bytes of shared memory of one server.
  [[nodiscard]] std::size_t server_bytes() const { return guarded_.server_bytes(); }

 private:
  warden::basic_guarded<Policy, pair_record, pair_stamp<pair_clock>> guarded_;
};

/// Keeps the records on chip if they fit there, otherwise in memory.
template <unsigned Threads>
std::unique_ptr<pair_arm> make_colocated(pair_record* records, std::uint32_t keys) {
  warden::guarded_options const options{.servers = 1};
  try {
    return std::make_unique<warden_arm<apps::colocated<nothing, Threads, placement::on_chip>>>(
        records, keys, options);
  } catch (warden::limit_error const&) {
    return std::make_unique<warden_arm<apps::colocated<nothing, Threads, placement::in_memory>>>(
        records, keys, options);
  }
}

template <placement Where>
std::unique_ptr<pair_arm> make_nested(pair_record* records, std::uint32_t keys) {
  return apps::with_pair_servers(
      [&](warden::guarded_options const& options) {
        return std::make_unique<warden_arm<apps::nested<nothing, Where>>>(records, keys, options);
      },
      "records");
}

}  // namespace

std::unique_ptr<pair_arm> make_pair_warden_arm(std::string const& name, pair_record* records,
                                               std::uint32_t keys) {
  if (name == "warden_nested") return make_nested<placement::in_memory>(records, keys);
  if (name == "warden_nested_on_chip") return make_nested<placement::on_chip>(records, keys);
  // Simulated threads are slow, so a simulated block has fewer.
  bool const simulated = warden::runtime::facts(warden::runtime::current_device()).simulated;
  return simulated ? make_colocated<256>(records, keys) : make_colocated<640>(records, keys);
}

}  // namespace handover

// SPDX-License-Identifier: Apache-2.0
// Point of the static hash table benchmark: one size and load, built or searched.

#include "microbench/hash_table/static_point.hpp"

#include "apps/hash_table/static_table.cuh"
#include "apps/hash_table/table.cuh"
#include "microbench/hash_table/open_addressing.cuh"
#include "microbench/support/timed_point.hpp"

#include <warden/buffer.hpp>
#include <warden/stream.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace hash_table_bench {

namespace {

/// Returns the key of an id. Different ids have different keys.
WARDEN_HOST_DEVICE constexpr std::uint32_t static_key_of(std::uint32_t id) {
  std::uint32_t x = id * 0x9e3779b1u;
  x = (x ^ (x >> 16)) * 0x21f0aaadu;
  x = (x ^ (x >> 15)) * 0x735a2d97u;
  return x ^ (x >> 15);
}
/// The id whose key `open_addressing` cannot hold. All draws have smaller ids.
constexpr std::uint32_t excluded_id = 1031584556, draws = 7, most_keys = 1u << 26;
static_assert(static_key_of(excluded_id) == open_addressing::no_key);
static_assert(2 * draws * most_keys <= excluded_id);
WARDEN_HOST_DEVICE std::uint32_t static_value_of(std::uint32_t id) { return id * 0x85ebca6bu + 1; }

/// Ids of keys of a table and of searches in it. The table has the `n` ids from `first`; the `n`
/// ids after those are absent.
struct static_ids {
  std::uint32_t n, first;
  int hits;  ///< percent of the searches
  std::uint64_t seed;

  __device__ std::uint32_t searched(std::uint64_t i) const {
    std::uint64_t const drawn = bench::mix(i, seed);
    auto const place = static_cast<std::uint32_t>((drawn >> 32) * std::uint64_t{n} >> 32);
    bool const hit = static_cast<int>((drawn & 0xffff) * 100 >> 16) < hits;
    return first + place + (hit ? 0 : n);
  }
};

struct draw_static {
  static_ids ids;
  std::uint32_t *keys, *values, *searched;
};
WARDEN_KERNEL void draw_static_kernel(draw_static a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.ids.n, [&](std::uint64_t i) {
    auto const id = a.ids.first + static_cast<std::uint32_t>(i);
    a.keys[i] = static_key_of(id);
    a.values[i] = static_value_of(id);
    a.searched[i] = static_key_of(a.ids.searched(i));
  });
}

struct verify_static {
  static_ids ids;
  std::uint32_t const* values;
  bool const* found;
  bool all;  ///< search i was for key i
  std::uint64_t* wrong;
};
WARDEN_KERNEL void verify_static_kernel(verify_static a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.ids.n, [&](std::uint64_t i) {
    std::uint32_t const id =
        a.all ? a.ids.first + static_cast<std::uint32_t>(i) : a.ids.searched(i);
    bool const is_there = id - a.ids.first < a.ids.n;
    if (a.found[i] != is_there || (is_there && a.values[i] != static_value_of(id)))
      simt::fetch_add(a.wrong, std::uint64_t{1});
  });
}

struct open_arguments {
  open_addressing::view table;
  std::uint32_t const* keys;
  std::uint32_t* values;
  bool* found;
  std::uint32_t n;
};
WARDEN_KERNEL void open_insert_kernel(open_arguments a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.n, [&](std::uint64_t i) { a.table.insert(a.keys[i], a.values[i]); });
}
WARDEN_KERNEL void open_find_kernel(open_arguments a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.n, [&](std::uint64_t i) {
    auto const there = a.table.find(a.keys[i]);
    a.values[i] = there.value;
    a.found[i] = there.is_there;
  });
}

class static_point final : public bench::timed_point {
 public:
  static_point(std::uint32_t keys, std::uint32_t load, int hits)
      : n_{keys}, load_{load}, hits_{hits} {}

  [[nodiscard]] bool has(std::string const&) const override { return true; }
  [[nodiscard]] std::string name(std::string const& arm) const override {
    std::string const load = "load_" + std::to_string(load_);
    return (hits_ == builds ? "build/" + load : "find/" + load + "_hits_" + std::to_string(hits_)) +
           "/" + arm + "/keys:" + std::to_string(n_);
  }

 private:
  using existing_table = hash_table::table<std::uint32_t, std::uint32_t>;

  struct memory {
    explicit memory(std::uint32_t n)
        : keys{n}, values{n}, searched{n}, found_values{n}, found{n}, wrong{1} {}
    warden::buffer<std::uint32_t> keys, values, searched, found_values;
    warden::buffer<bool> found;
    warden::buffer<std::uint64_t> wrong;
    std::optional<open_addressing> open;
    std::optional<existing_table> existing;
    std::optional<hash_table::static_table> fixed;
  };

  [[nodiscard]] std::uint32_t operations() const override { return n_; }
  void set_up(std::uint32_t) override { memory_.emplace(n_); }
  void tear_down() override { memory_.reset(); }
  void finish(std::string const& arm, bench::row& r) override {
    if (arm == "warden_static") r.counters["attempts"] = memory_->fixed->attempts();
  }

  /// Every repetition has new keys. A point that searches builds the table before the clock starts.
  bench::run_result run(std::string const& arm, std::uint32_t, std::uint64_t seed) override {
    static_ids const ids{n_, static_cast<std::uint32_t>(seed % draws) * 2 * n_, hits_, seed};
    auto const [blocks, threads] = bench::shape_of_helpers();
    memory& m = *memory_;
    simt::launch(&draw_static_kernel, blocks, threads, 0,
                 {ids, m.keys.data(), m.values.data(), m.searched.data()}, {});
    prepare_table(arm);
    warden::timer clock;
    bench::run_result result;
    if (hits_ == builds) clock.start();
    build(arm);
    if (hits_ == builds) clock.stop();
    find(arm, m.keys);
    result.verified = verify(ids, true);
    if (hits_ != builds) {
      clock.start();
      find(arm, m.searched);
      clock.stop();
      result.verified = verify(ids, false) && result.verified;
    }
    result.cost = clock.result();
    return result;
  }

  void prepare_table(std::string const& arm) {
    memory& m = *memory_;
    if (arm == "atomics") {
      if (!m.open) m.open.emplace(n_, load_ / 100.0);
    } else if (arm == "warden_static") {
      if (!m.fixed)
        m.fixed.emplace(hash_table::static_options{.capacity = n_, .load = load_ / 100.0});
    } else {
      if (!m.existing) m.existing.emplace(hash_table::table_options{.capacity = n_});
      m.existing->clear_async({});
      m.existing->wait();
    }
    warden::stream_ref{}.synchronize();
  }
  void build(std::string const& arm) {
    memory& m = *memory_;
    if (arm == "atomics") {
      m.open->clear_async();
      auto const [blocks, threads] = bench::shape_of_helpers();
      simt::launch(&open_insert_kernel, blocks, threads, 0,
                   {m.open->device_view(), m.keys.data(), m.values.data(), nullptr, n_}, {});
    } else if (arm == "warden_static") {
      m.fixed->build(m.keys.data(), m.values.data(), n_);
    } else {
      m.existing->insert_async(m.keys.data(), m.values.data(), n_);
    }
  }
  void find(std::string const& arm, warden::buffer<std::uint32_t> const& keys) {
    memory& m = *memory_;
    if (arm == "atomics") {
      auto const [blocks, threads] = bench::shape_of_helpers();
      simt::launch(&open_find_kernel, blocks, threads, 0,
                   {m.open->device_view(), keys.data(), m.found_values.data(), m.found.data(), n_},
                   {});
    } else if (arm == "warden_static") {
      m.fixed->find_async(keys.data(), n_, m.found_values.data(), m.found.data());
    } else {
      m.existing->wait();
      m.existing->find_async(keys.data(), n_, m.found_values.data(), m.found.data());
    }
  }
  bool verify(static_ids const& ids, bool all) {
    memory& m = *memory_;
    m.wrong.fill_bytes(0);
    auto const [blocks, threads] = bench::shape_of_helpers();
    simt::launch(&verify_static_kernel, blocks, threads, 0,
                 {ids, m.found_values.data(), m.found.data(), all, m.wrong.data()}, {});
    return m.wrong.to_host()[0] == 0;
  }

  std::uint32_t n_, load_;
  int hits_;
  std::optional<memory> memory_;
};

}  // namespace

std::shared_ptr<bench::point> make_static_point(std::uint32_t keys, std::uint32_t load, int hits) {
  return std::make_shared<static_point>(keys, load, hits);
}

}  // namespace hash_table_bench

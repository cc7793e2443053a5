// SPDX-License-Identifier: Apache-2.0
// Sections whose payload is a row of a matrix, and the result of a loop over them.
#pragma once

#include "tests/support/support.cuh"

#include <warden/cuda_names.cuh>
#include <warden/deferred.cuh>
#include <warden/fused.cuh>
#include <warden/simt/launch.cuh>

#include <cstdint>
#include <type_traits>
#include <vector>

namespace rows_test {

namespace simt = warden::simt;

/// Rows of the sections.
template <class T>
struct matrix {
  T const* values;
};
/// Returns a small number, so that sums of floats are exact.
template <class T, unsigned N>
T value_at(std::uint32_t row, unsigned column) {
  return static_cast<T>(test::mix(std::uint64_t{row} * N + column + 1) % 8);
}

template <class T, unsigned N>
std::vector<T> rows_of(std::size_t n) {
  std::vector<T> rows;
  for (std::uint32_t i = 0; i < n; ++i) {
    for (unsigned c = 0; c < N; ++c) rows.push_back(value_at<T, N>(i, c));
  }
  return rows;
}

/// Type of the sum over all columns of all sections of a record. It is exact in any order: such a
/// sum of floats may need more than the 24 bits of a float.
template <class T>
using sum_of_all = std::conditional_t<std::is_floating_point_v<T>, double, T>;
/// A record: a row of sums, and what all lanes together found.
template <class T, unsigned N>
struct alignas(16) record {
  T sums[N];
  sum_of_all<T> all;       ///< sum over all columns
  std::uint32_t sections;  ///< sections that ran
  std::uint32_t mixed;     ///< depends on the order of the sections
};
template <class T, unsigned N>
void add_row(record<T, N>& to, std::uint32_t row, std::uint32_t id) {
  for (unsigned c = 0; c < N; ++c) {
    to.sums[c] += value_at<T, N>(row, c);
    to.all += value_at<T, N>(row, c);
  }
  ++to.sections;
  to.mixed = to.mixed * 33 + row + id;
}

/// Adds a row to a record, by all lanes.
template <class T, unsigned N, unsigned Lanes>
struct add {
  using value_type = T;
  using record_type = record<T, N>;
  using part = warden::row_part<T, N, Lanes>;
  static constexpr unsigned columns = N, group_size = Lanes;
  std::uint32_t source;

  __device__ warden::row<T const, N> payload(matrix<T> const& m) const {
    return {m.values, source};
  }
  __device__ void operator()(record_type& r, part const& own, matrix<T> const&,
                             warden::record_id id, warden::lane_group<Lanes> const& group) const {
    T sum = 0;
    for (unsigned k = 0; k < part::size; ++k) sum += own[k];
    sum = group.reduce(sum, [](T a, T b) { return a + b; });
    warden::row<T, N> const sums{r.sums};
    auto now = sums.load(group);
    for (unsigned k = 0; k < part::size; ++k) now[k] += own[k];
    sums.store(group, now);
    if (group.lane() != 0) return;
    r.all += sum;
    ++r.sections;
    r.mixed = r.mixed * 33 + source + static_cast<std::uint32_t>(id);
  }
};
/// Adds a row to a record. A no-op section once the record has had 5 sections.
template <class T, unsigned N, unsigned Lanes>
struct add_few : add<T, N, Lanes> {
  static constexpr std::uint32_t most = 5;
  __device__ bool is_noop(record<T, N> const& r) const { return r.sections >= most; }
  __device__ void operator()(record<T, N>& r, typename add<T, N, Lanes>::part const& own,
                             matrix<T> const& m, warden::record_id id,
                             warden::lane_group<Lanes> const& group) const {
    bool const is_full = r.sections >= most;
    group.sync();
    if (!is_full) add<T, N, Lanes>::operator()(r, own, m, id, group);
  }
};
/// A section without a row: adds 1 to all columns.
template <class T, unsigned N>
struct add_ones {
  static constexpr unsigned group_size = 2;
  __device__ void operator()(record<T, N>& r, warden::lane_group<2> const& group) const {
    for (unsigned c = group.lane(); c < N; c += 2) r.sums[c] += 1;
    group.sync();
    if (group.lane() == 0) r.all += N, ++r.sections;
  }
};
/// Section whose rows combine to their sum.
template <class T, unsigned N, unsigned Lanes>
struct add_sum : add<T, N, Lanes> {
  using part = typename add<T, N, Lanes>::part;
  __device__ static part combine(part a, part const& b) {
    for (unsigned k = 0; k < part::size; ++k) a[k] += b[k];
    return a;
  }
};

/// Adds a row to a copy of a record. All lanes hold the parts of the record that are no row,
/// and one lane or another stores them.
template <class T, unsigned N, unsigned Lanes>
struct add_to_copy : add<T, N, Lanes> {
  using record_type = record<T, N>;
  using part = warden::row_part<T, N, Lanes>;
  using group = warden::lane_group<Lanes>;
  struct copy {
    part sums;
    sum_of_all<T> all;
    std::uint32_t sections, mixed;
  };
  __device__ static copy load_record(record_type const& r, matrix<T> const&, warden::record_id,
                                     group const& lanes) {
    return {warden::row<T const, N>{r.sums}.load(lanes), r.all, r.sections, r.mixed};
  }
  __device__ static void store_record(record_type& r, copy const& c, matrix<T> const&,
                                      warden::record_id, group const& lanes) {
    warden::row<T, N>{r.sums}.store(lanes, c.sums);
    if (lanes.lane() != c.mixed % Lanes) return;
    r.all = c.all;
    r.sections = c.sections;
    r.mixed = c.mixed;
  }
  __device__ void operator()(copy& c, part const& own, matrix<T> const& m, warden::record_id id,
                             group const& lanes) const {
    run(c, own, sum_of(own, lanes), m, id, lanes);
  }

 protected:
  __device__ static T sum_of(part const& own, group const& lanes) {
    T sum = 0;
    for (unsigned k = 0; k < part::size; ++k) sum += own[k];
    return lanes.reduce(sum, [](T a, T b) { return a + b; });
  }
  __device__ void run(copy& c, part const& own, T sum, matrix<T> const&, warden::record_id id,
                      group const&) const {
    for (unsigned k = 0; k < part::size; ++k) c.sums[k] += own[k];
    c.all += sum;
    ++c.sections;
    c.mixed = c.mixed * 33 + this->source + static_cast<std::uint32_t>(id);
  }
};
/// The same, with the sum of the row prepared.
template <class T, unsigned N, unsigned Lanes>
struct add_prepared : add_to_copy<T, N, Lanes> {
  using base = add_to_copy<T, N, Lanes>;
  using typename base::copy;
  using typename base::group;
  using typename base::part;
  __device__ T prepare(part const& own, group const& lanes) const {
    return base::sum_of(own, lanes);
  }
  __device__ void operator()(copy& c, part const& own, T sum, matrix<T> const& m,
                             warden::record_id id, group const& lanes) const {
    base::run(c, own, sum, m, id, lanes);
  }
};

/// Section i, for record ids[i].
template <class Section>
struct numbered {
  __device__ Section operator()(std::uint64_t i) const {
    Section s{};
    s.source = static_cast<std::uint32_t>(i);
    return s;
  }
};
template <class Section>
struct numbered_to {
  std::uint32_t const* ids;
  __device__ warden::to<Section> operator()(std::uint64_t i) const {
    return warden::to{ids[i], numbered<Section>{}(i)};
  }
};
template <class Ref, class Section>
struct sending {
  Ref ref;
  std::uint32_t const* ids;
  std::uint32_t n;
};
template <class Ref, class Section>
WARDEN_KERNEL void send_by_threads(sending<Ref, Section> a) {
  std::uint32_t const i = simt::block_rank() * simt::block_threads() + simt::thread_rank();
  if (i < a.n) a.ref.send(a.ids[i], numbered<Section>{}(i));
}
template <class Section>
struct send_in_launch {
  std::uint32_t const* ids;
  std::uint32_t n;
  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    warden::block_client<Ref> client{ref, at};
    test::in_rounds(at, n, [&](std::uint64_t i) {
      client.send(i < n ? ids[i] : 0, numbered<Section>{}(i), i < n);
      client.flush();
    });
  }
};

/// Ids of n sections, and a guarded array with the matrix of their rows.
template <class Guarded, class Section>
struct fixture {
  using T = typename Section::value_type;
  using record_type = typename Section::record_type;
  static constexpr unsigned columns = Section::columns;

  std::vector<std::uint32_t> host_ids;
  warden::buffer<std::uint32_t> ids;
  warden::buffer<T> values;
  warden::buffer<record_type> records;
  Guarded guarded;

  fixture(std::vector<std::uint32_t> const& on, std::uint32_t keys)
      : host_ids{on},
        ids{on},
        values{rows_of<T, columns>(on.size())},
        records{keys},
        guarded{records, matrix<T>{values.data()}} {
    records.fill_bytes(0);
  }
  [[nodiscard]] std::uint32_t n() const { return static_cast<std::uint32_t>(host_ids.size()); }

  /// Sends all sections to a log by threads, and runs it.
  void send(unsigned partitions = 0) {
    using ref = typename Guarded::deferred_ref;
    warden::deferred log{guarded, n(), {.partitions = partitions}};
    simt::launch(&send_by_threads<ref, Section>, (n() + 63) / 64, 64, 0,
                 sending<ref, Section>{log.ref(), ids.data(), n()}, {});
    log.run();
    guarded.wait();
  }
  /// Sends all sections to a log by blocks, and runs it.
  void send_async(unsigned partitions = 0) {
    warden::deferred log{guarded, n(), {.partitions = partitions}};
    warden::send_async(log, n(), numbered_to<Section>{ids.data()});
    log.run();
    guarded.wait();
  }
  void apply_async() {
    guarded.apply_async(ids.data(), n(), numbered<Section>{});
    guarded.wait();
  }
  void launch_fused() {
    warden::launch_fused(send_in_launch<Section>{ids.data(), n()}, 2, 32, {}, guarded);
    guarded.wait();
  }

  /// Checks the records after `runs` times all sections, each run in the order of a loop if
  /// `in_order`. At most `most` sections of a record have an effect.
  void expect_sums(bool in_order, unsigned runs = 1, std::uint32_t most = ~0u) const {
    std::vector<record_type> wanted(records.size(), record_type{});
    for (unsigned run = 0; run < runs; ++run) {
      for (std::uint32_t i = 0; i < n(); ++i) {
        record_type& r = wanted[host_ids[i]];
        if (r.sections < most) add_row(r, i, host_ids[i]);
      }
    }
    auto const found = records.to_host();
    for (std::size_t id = 0; id < found.size(); ++id) {
      ASSERT_EQ(found[id].sections, wanted[id].sections) << "lost or doubled section on " << id;
      if (most != ~0u && !in_order) continue;
      for (unsigned c = 0; c < columns; ++c)
        ASSERT_EQ(found[id].sums[c], wanted[id].sums[c])
            << "wrong row on record " << id << ", column " << c;
      ASSERT_EQ(found[id].all, wanted[id].all) << "wrong row on record " << id;
      if (in_order) {
        ASSERT_EQ(found[id].mixed, wanted[id].mixed) << "wrong order on record " << id;
      }
    }
  }
};

/// Policy of these tests.
template <class T, class Executor = warden::executor::sorted<>,
          warden::placement Where = warden::placement::in_memory, unsigned Threads = 32,
          class... Parts>
using policy = warden::policy<warden::options{.records = Where, .block_threads = Threads}, Executor,
                              warden::context<matrix<T>>, Parts...>;

/// Returns the ids of n sections on `keys` records. Of two adjacent sections one is on record 0 if
/// they are `skewed`.
inline std::vector<std::uint32_t> ids_of(std::uint32_t n, std::uint32_t keys, std::uint64_t seed,
                                         bool skewed = false) {
  std::vector<std::uint32_t> ids(n);
  for (std::uint32_t i = 0; i < n; ++i) ids[i] = skewed && i % 2 ? 0 : test::id_of(i + seed, keys);
  return ids;
}

}  // namespace rows_test

// SPDX-License-Identifier: Apache-2.0
// Points whose elements take places while they are copied.

#include "microbench/allocation/copy_kernel.cuh"
#include "microbench/allocation/place_oracle.cuh"
#include "microbench/allocation/points.hpp"
#include "microbench/support/device_time.hpp"
#include "microbench/support/measure_interleaved.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

namespace allocation {
namespace {

struct draw_arguments {
  std::uint32_t* elements;
  std::uint32_t n;
  std::uint64_t seed;
};
WARDEN_KERNEL void draw_elements(draw_arguments a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.n, [&](std::uint64_t i) {
    a.elements[i] = static_cast<std::uint32_t>(bench::mix(i, a.seed) >> 32);
  });
}

/// Places that the elements of a copy took, from one counter or from one counter per block.
struct takings_of_copy {
  copy_arguments copied;
  std::uint32_t
      blocks;  ///< number of blocks that copied, if each had a counter; 0 if all shared one
  __device__ taking operator()(std::uint64_t number) const {
    auto const i = static_cast<std::uint32_t>(number * copied.each);
    return {blocks == 0 ? 0 : i / copy_tile::elements % blocks, copied.out[i] - copied.in[i],
            places_of(copied.in[i])};
  }
};

struct copied_check {
  copy_arguments copied;
  bool takes;  ///< true if one of every `each` elements takes places
  std::uint64_t* wrong;
};
WARDEN_KERNEL void check_copied(copied_check a) {
  simt::assume_one_dimension();
  bench::for_each_of(a.copied.n, [&](std::uint64_t i) {
    if (a.takes && i % a.copied.each == 0) return;
    if (a.copied.in[i] != a.copied.out[i]) simt::fetch_add(a.wrong, std::uint64_t{1});
  });
}

std::string in_short(std::uint32_t n) {
  if (n >= 1u << 20 && n % (1u << 20) == 0) return std::to_string(n >> 20) + "M";
  if (n >= 1u << 10 && n % (1u << 10) == 0) return std::to_string(n >> 10) + "K";
  return std::to_string(n);
}

/// Copy functions and counters of an arm.
struct copy_arm {
  void (*copy_async)(copy_arguments const&);
  unsigned (*blocks)(std::uint32_t n);
  bool takes, of_blocks;  ///< elements take places; from one counter per block
};
template <class Places>
copy_arm arm_of(bool takes, bool of_blocks = false) {
  return {&copy_async<Places>, &copy_blocks<Places>, takes, of_blocks};
}
/// All arms except memcpy.
std::map<std::string, copy_arm> const& copy_arms() {
  static std::map<std::string, copy_arm> const arms{
      {"copy", arm_of<no_places>(false)},
      {"global_atomic", arm_of<global_atomic_places<lanes::apart>>(true)},
      {"global_atomic_compiled", arm_of<global_atomic_places<lanes::together>>(true)},
      {"shared_atomic", arm_of<shared_atomic_places<lanes::apart>>(true, true)},
      {"shared_atomic_compiled", arm_of<shared_atomic_places<lanes::together>>(true, true)},
      {"block_scan", arm_of<block_scan_places>(true, true)},
      {"unordered", arm_of<block_allocator_places>(true)}};
  return arms;
}
bool takes_places(std::string const& arm) { return arm != "memcpy" && copy_arms().at(arm).takes; }

/// Arrays of a point; runs its repetitions.
class copier {
 public:
  copier(std::uint32_t n, std::uint32_t each)
      : each_{each},
        in_{n},
        out_{n},
        counter_{1},
        wide_{1},
        wrong_{1},
        of_one_{1, most_places(n, each)},
        of_blocks_{most_blocks(n), most_places(n, each)} {}

  bench::run_result run(std::string const& arm) {
    auto const [blocks, threads] = bench::shape_of_helpers();
    simt::launch(&draw_elements, blocks, threads, 0, {in_.data(), size(), ++seed_}, {});
    out_.fill_bytes(0xff);
    counter_.fill_bytes(0);
    wide_.fill_bytes(0);
    bench::run_result result;
    result.cost = bench::device_time([&] {
      if (arm == "memcpy") {
        warden::copy(out_.data(), in_.data(), in_.size());
      } else {
        copy_arms().at(arm).copy_async(arguments());
      }
    });
    result.verified = is_right(arm);
    return result;
  }

 private:
  static std::uint64_t most_places(std::uint32_t n, std::uint32_t each) {
    return 4 * (std::uint64_t{n} / each + 1);
  }
  static unsigned most_blocks(std::uint32_t n) {
    unsigned most = 0;
    for (auto const& [name, arm] : copy_arms()) most = std::max(most, arm.blocks(n));
    return most;
  }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(in_.size()); }
  [[nodiscard]] copy_arguments arguments() const {
    return {in_.data(), out_.data(), size(), each_, counter_.data(), wide_.data(), 0};
  }
  bool is_right(std::string const& arm) {
    wrong_.fill_bytes(0);
    auto const [blocks, threads] = bench::shape_of_helpers();
    simt::launch(&check_copied, blocks, threads, 0, {arguments(), takes_places(arm), wrong_.data()},
                 {});
    if (wrong_.to_host()[0] != 0) return false;
    if (!takes_places(arm)) return true;
    copy_arm const& how = copy_arms().at(arm);
    takings_of_copy const all{arguments(), how.of_blocks ? how.blocks(size()) : 0};
    std::uint64_t const n = (std::uint64_t{size()} + each_ - 1) / each_;
    if (how.of_blocks) return of_blocks_.wrong(n, all) == 0;
    if (arm == "unordered") return of_one_.wrong(n, all, &wide_) == 0;
    return of_one_.wrong(n, all, &counter_) == 0;
  }

  std::uint32_t each_;
  std::uint64_t seed_ = 0;
  warden::buffer<std::uint32_t> in_, out_, counter_;
  warden::buffer<std::uint64_t> wide_, wrong_;
  place_oracle of_one_, of_blocks_;
};

/// A point of copies. An operation is a copied element.
class copy_point final : public bench::point {
 public:
  copy_point(std::uint32_t elements, std::uint32_t each) : elements_{elements}, each_{each} {
    if (elements % 4 != 0)
      throw std::runtime_error{std::to_string(elements) + " elements: a multiple of 4 is copied"};
  }
  [[nodiscard]] bool has(std::string const& arm) const override {
    return arm == "memcpy" || copy_arms().contains(arm);
  }
  [[nodiscard]] std::string name(std::string const& arm) const override {
    return "copy/" + in_short(elements_) + "/" + arm + "/keys:" + std::to_string(each_);
  }

 private:
  std::map<std::string, bench::row> measure_all(bench::sweep const& s) override {
    copier by{elements_, each_};
    std::map<std::string, bench::row> rows;
    for (std::string const& arm : s.arms) {
      if (!has(arm)) continue;
      rows[arm].operations = elements_;
      // The first repetition warms up.
      rows[arm].verified = by.run(arm).verified;
    }
    bench::measure_interleaved(rows, s.repetitions,
                               [&](std::string const& arm) { return by.run(arm); });
    for (auto& [arm, r] : rows) {
      r.counters["operations"] = elements_;
      r.counters["bytes"] = 8. * elements_;
      r.counters["takings"] = takes_places(arm) ? (elements_ + each_ - 1) / each_ : 0;
    }
    return rows;
  }

  std::uint32_t elements_, each_;
};

}  // namespace

std::shared_ptr<bench::point> make_copy_point(std::uint32_t elements, std::uint32_t each) {
  return std::make_shared<copy_point>(elements, each);
}

}  // namespace allocation

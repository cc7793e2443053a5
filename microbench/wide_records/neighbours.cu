// SPDX-License-Identifier: Apache-2.0
// Insertion into lists of neighbours.

#include "microbench/wide_records/neighbour_oracle.cuh"
#include "microbench/wide_records/neighbours.cuh"
#include "microbench/wide_records/points.hpp"
#include "microbench/wide_records/wide_point.cuh"

#include <warden/section.cuh>

#include <cstdint>
#include <memory>
#include <utility>

namespace wide_records {
namespace {

/// Operation with sections of one type.
template <class Section>
struct inserting {
  using record = neighbour_list;
  using section = Section;
  using make = make_candidate<Section>;
  using context = warden::no_context;
};

struct neighbours {
  static constexpr char const* name = "neighbours";
  using record = neighbour_list;
  using context = warden::no_context;
  using alone = inserting<insert_alone>;
  using together = inserting<insert_together<32>>;
  using under_locks = inserting<insert_together<32>>;

  class memory : public neighbour_oracle<make_candidate<insert_alone>> {
   public:
    memory(std::uint32_t, std::uint32_t keys) : neighbour_oracle{keys} {}
    [[nodiscard]] static warden::no_context context() { return {}; }
  };
};

}  // namespace

std::shared_ptr<bench::point> make_neighbours_point(bench::workload w) {
  return std::make_shared<wide_point<neighbours>>(std::move(w));
}

}  // namespace wide_records

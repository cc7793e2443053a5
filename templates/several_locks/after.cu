// SPDX-License-Identifier: Apache-2.0
// After: no locks, and no kernel. A function returns each order, and each order names its bins. The
// run knows all orders, so it puts them in order on each bin before the first one runs. Nothing is
// undone by hand: an order that aborts has changed copies only. Copy this file and edit the places
// marked 1 to 5.

#include <warden/cuda_names.cuh>  // for the simulated device; nvcc knows them
#include <warden/deferred_several.cuh>

#include <cstdint>
#include <cstdio>
#include <vector>

// 1. The record: what one lock protected. A guarded array has a section on one record, too.
struct bin {
  std::uint32_t parts;  ///< or products
  std::uint32_t taken;  ///< parts that orders have taken
};
constexpr std::uint32_t bins = 60, products = 16, opening = 50, parts_of_order = 4;
struct restock {
  std::uint32_t parts;
  __device__ void operator()(bin& b) const { b.parts += parts; }
};
using store = warden::guarded<bin, restock>;

struct order {
  std::uint32_t id[parts_of_order + 1];  ///< bins of the parts, some of them equal; the product
  WARDEN_HOST_DEVICE static order number(std::uint32_t i) {
    order o;
    for (std::uint32_t k = 0; k < parts_of_order; ++k)
      o.id[k] = ((i * parts_of_order + k) * 2654435761u >> 16) % bins;
    o.id[parts_of_order] = bins + i % products;
    return o;
  }

  // 2. The records, in any order. Two names of one record are one record.
  __device__ void access(warden::access_list<parts_of_order + 1>& a) const {
    for (std::uint32_t one : id) a.write(one);
  }
  // 3. The critical section, with the records by the positions at which `access` names them.
  __device__ warden::outcome operator()(warden::records<bin, parts_of_order + 1>& r) const {
    for (std::uint32_t k = 0; k < parts_of_order; ++k) {
      if (r.read(k).parts == 0) return warden::outcome::abort;
      --r.write(k).parts;
      ++r.write(k).taken;
    }
    ++r.write(parts_of_order).parts;
    return warden::outcome::commit;
  }
};

int main() {
  std::uint32_t const n = 1000, size = bins + products;
  std::vector<bin> stock(size, bin{0, 0});
  for (std::uint32_t id = 0; id < bins; ++id) stock[id].parts = opening;
  warden::buffer<bin> all{stock};
  store on{all};
  // 4. Instead of the kernel: the body of its loop. Orders run in the order of i.
  warden::deferred_several<store, order> orders{on, n};
  orders.apply_async(n, [] __device__(std::uint32_t i) { return order::number(i); });
  // 5. The errors of all sections.
  on.wait();

  stock = all.to_host();
  std::uint32_t parts = 0, wrong = 0;
  for (std::uint32_t id = 0; id < size; ++id) {
    parts += stock[id].parts * (id < bins ? 1 : parts_of_order);
    wrong += id < bins && stock[id].parts + stock[id].taken != opening;
  }
  std::printf("%u parts, %u wrong bins\n", parts, wrong);
}

// SPDX-License-Identifier: Apache-2.0
// Rows that do not fit a message, without order::deterministic.
#include <warden/deferred.cuh>
#include <warden/sections.cuh>

using row = warden::elements<float, 64>;

void send(warden::guarded<row, warden::add<row>>& sums, warden::buffer<unsigned> const& ids,
          warden::buffer<row> const& rows) {
  sums.apply_async(ids, rows);
}

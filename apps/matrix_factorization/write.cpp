// SPDX-License-Identifier: Apache-2.0
// Writes ratings as lines of text.

#include "apps/matrix_factorization/write.hpp"

#include "apps/support/text_writer.hpp"

#include <cstddef>

namespace factorization {

void write_ratings(rating_list const& list, apps::output_file& file) {
  apps::text_writer to{file};
  for (std::size_t k = 0; k < list.size(); ++k) {
    to << list.user_name(list.user[k]) << '\t' << list.item_name(list.item[k]) << '\t'
       << list.value[k];
    to.end_line();
  }
  to.commit();
}

}  // namespace factorization

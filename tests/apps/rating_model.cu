// SPDX-License-Identifier: Apache-2.0
// Factors on the host: learning by one thread, recommendations, and files.

#include "apps/matrix_factorization/model.hpp"
#include "apps/matrix_factorization/planted.hpp"
#include "apps/matrix_factorization/sequential.hpp"
#include "tests/apps/graph_folder.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using factorization::model;
using factorization::rating_list;

TEST(sequential_descent, learns_what_was_planted) {
  auto const [train, test] =
      factorization::split(factorization::planted_ratings({1000, 300, 60000, 900}, 1), 0.1, 1);
  model m = factorization::first_model(train, 16, 1);
  factorization::sequential_descent const descent{train, 1};
  double const before = factorization::rmse_of(m, test);
  for (unsigned epoch = 0; epoch < 15; ++epoch) descent.run(m, {0.04f, 0.05f});
  double const after = factorization::rmse_of(m, test);
  EXPECT_GT(before, 0.85);
  EXPECT_LT(after, 0.68);
}

TEST(sequential_descent, makes_the_steps_that_are_written_down) {
  rating_list list;
  list.users = 1;
  list.items = 1;
  list.add(0, 0, 2);
  model m = factorization::first_model(list, 16, 1);
  EXPECT_EQ(m.mean, 2);
  m.mean = 0;
  m.user_rows.assign(16, 0.25f);
  m.item_rows.assign(16, 0.5f);
  // The product is 2: no error, so only the penalty is left.
  factorization::sequential_descent{list, 1}.run(m, {0.5f, 0.5f});
  EXPECT_EQ(m.user_rows, std::vector<float>(16, 0.75f * 0.25f));
  EXPECT_EQ(m.item_rows, std::vector<float>(16, 0.75f * 0.5f));
  // The product is 8, and so the error -6: both move by their values before.
  m.item_rows.assign(16, 0.5f);
  m.user_rows.assign(16, 1);
  factorization::sequential_descent{list, 1}.run(m, {0.25f, 0});
  EXPECT_EQ(m.user_rows, std::vector<float>(16, 0.25f));
  EXPECT_EQ(m.item_rows, std::vector<float>(16, -1));
}

TEST(models, recommend_what_is_predicted_highest) {
  model m;
  m.rank = 16;
  m.users = 1;
  m.items = 4;
  m.mean = 3;
  m.user_rows.assign(16, 0);
  m.user_rows[0] = 1;
  m.item_rows.assign(64, 0);
  m.item_rows[0] = 0.5f;
  m.item_rows[16] = 2;
  m.item_rows[48] = -1;
  using best = std::vector<std::pair<std::uint32_t, float>>;
  EXPECT_EQ(factorization::recommended(m, 0, 2, {}), (best{{1, 5.f}, {0, 3.5f}}));
  EXPECT_EQ(factorization::recommended(m, 0, 9, {1}), (best{{0, 3.5f}, {2, 3.f}, {3, 2.f}}));
}

class model_files : public test::graph_folder {
 protected:
  model_files() {
    rating_list list = factorization::planted_ratings({50, 20, 200, 30}, 1);
    for (std::uint32_t u = 0; u < 50; ++u) list.user_names.push_back(3 * u);
    saved_ = factorization::first_model(list, 32, 1);
    apps::output_file file{path("m")};
    factorization::save(saved_, file);
  }
  std::string refusal(std::string const& bytes) {
    return error_from([&] { factorization::load_model(write("n", bytes)); }, path("n"));
  }
  model saved_;
};

TEST_F(model_files, give_back_what_was_saved) {
  EXPECT_EQ(factorization::load_model(path("m")), saved_);
}

TEST_F(model_files, that_are_wrong) {
  std::string const good = content(path("m"));
  EXPECT_EQ(refusal(""), ": is no file of factors");
  EXPECT_EQ(refusal("1 2 3\n"), ": is no file of factors");
  EXPECT_EQ(refusal(good.substr(0, 30)), ": is cut off");
  EXPECT_EQ(refusal(good.substr(0, good.size() - 1)), ": is cut off");
  EXPECT_EQ(refusal(good + "x"), ": is cut off");
  std::string other = good;
  other[8] = 99;
  EXPECT_EQ(refusal(other), ": is of another version");
  other = good;
  other[16] ^= 1;
  EXPECT_EQ(refusal(other), ": is damaged");
  other = good;
  other[good.size() / 2] ^= 1;
  EXPECT_EQ(refusal(other), ": is damaged");
}

TEST(models, have_some_ranks) {
  EXPECT_THROW(factorization::first_model({}, 24, 1), std::runtime_error);
}

}  // namespace

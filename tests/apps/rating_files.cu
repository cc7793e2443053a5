// SPDX-License-Identifier: Apache-2.0
// Files of ratings: valid ones, and the errors of invalid ones.

#include "apps/matrix_factorization/read.hpp"
#include "tests/apps/graph_folder.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

using testing::ElementsAre;

class rating_files : public test::graph_folder {
 protected:
  std::string refusal(std::string const& text) {
    return error_from([&] { factorization::read_ratings(write("r", text)); }, path("r"));
  }
};

TEST_F(rating_files, of_all_formats_are_alike) {
  std::string const tabs = "7\t3\t4.5\n7\t900\t1\n2\t3\t-0.5\n";
  auto const with = [&](std::string const& separator) {
    std::string text;
    for (char const c : tabs) text += c == '\t' ? separator : std::string{c};
    return text;
  };
  auto const timed = [&](std::string const& separator) {
    std::string text;
    for (char const c : with(separator)) {
      if (c == '\n') text += separator + "838985046";
      text += c;
    }
    return text;
  };
  std::string carriage_returns;
  for (char const c : tabs) carriage_returns += c == '\n' ? "\r\n" : std::string{c};
  std::string returns_alone = tabs;
  std::replace(returns_alone.begin(), returns_alone.end(), '\n', '\r');
  std::string const matrix = "%%MatrixMarket matrix coordinate real general\n";
  std::vector<std::string> const texts{
      tabs,
      with(" "),
      with("   "),
      with(","),
      with(", "),
      with("::"),
      timed("\t"),
      timed(" "),
      timed("::"),
      "userId,movieId,rating,timestamp\n" + timed(","),
      "\"user\",\"item\",\"rating\"\n" + with(","),
      "# comment\n\n% another\nuser item rating\n" + with(" "),
      "\xef\xbb\xbf" + tabs,
      "  # comment\n+7 +3 +4.5E+00\n7 900 1.\n2 3 -.5\n",
      matrix + "900 900 3\n7 3 4.5\n7 900 1\n2 3 -0.5\n",
      "%matrixmarket matrix coordinate real General\n  % by rows\n\n"
      "7 900 3\n7\t3  +4.5e0\n%\n7 900 1\n2 3 -0.5",
      "# before the header\n" + matrix + "7 900 3\n7 3 4.5\n7 900 1\n2 3 -0.5\n",
      tabs.substr(0, tabs.size() - 1),
      carriage_returns,
      returns_alone};
  for (std::string const& text : texts) {
    SCOPED_TRACE(text);
    auto const list = factorization::read_ratings(write("r", text));
    EXPECT_EQ(list.users, 2u);
    EXPECT_EQ(list.items, 2u);
    EXPECT_THAT(list.user_names, ElementsAre(2, 7));
    EXPECT_THAT(list.item_names, ElementsAre(3, 900));
    EXPECT_THAT(list.user, ElementsAre(1, 1, 0));
    EXPECT_THAT(list.item, ElementsAre(0, 1, 0));
    EXPECT_THAT(list.value, ElementsAre(4.5f, 1, -0.5f));
  }
}

TEST_F(rating_files, with_the_largest_names) {
  auto const list = factorization::read_ratings(write("r", "4294967294 0 1e-3\n0 4294967294 2\n"));
  EXPECT_THAT(list.user_names, ElementsAre(0, 4294967294));
  EXPECT_THAT(list.item_names, ElementsAre(0, 4294967294));
  EXPECT_THAT(list.value, ElementsAre(1e-3f, 2));
}

TEST_F(rating_files, longer_than_what_was_reserved_at_first) {
  std::string text;
  constexpr std::uint32_t n = 200000;
  for (std::uint32_t k = 0; k < n; ++k)
    text += std::to_string(k % 1000) + "," + std::to_string(k / 1000) + ",3\n";
  auto const list = factorization::read_ratings(write("r", text));
  ASSERT_EQ(list.size(), n);
  EXPECT_EQ(list.users, 1000u);
  EXPECT_EQ(list.items, 200u);
  for (std::uint32_t k = 0; k < n; ++k) {
    ASSERT_EQ(list.user[k], k % 1000);
    ASSERT_EQ(list.item[k], k / 1000);
  }
  EXPECT_LE(list.value.capacity(), n + n / 8) << "memory is near the result's";
}

TEST_F(rating_files, that_are_wrong) {
  std::vector<std::pair<std::string, std::string>> const wrong{
      {"1 2", ":2: rating is missing"},
      {"1", ":2: item is missing"},
      {"x 2 3", ":2: user \"x\" is not a whole number"},
      {"1 2.5 3", ":2: item \"2.5\" is not a whole number"},
      {"-1 2 3", ":2: user -1 is negative"},
      {"1 4294967295 3", ":2: item 4294967295 is not from 0 to 4294967294"},
      {"1 99999999999999999999 3", ":2: item 99999999999999999999 is not from 0 to 4294967294"},
      {"1 2 good", ":2: rating \"good\" is not a number"},
      {"1 2 nan", ":2: rating \"nan\" is not a number"},
      {"1 2 inf", ":2: rating inf is not from -3.4e38 to 3.4e38, the limits of a float"},
      {"1 2 3stars", ":2: rating \"3stars\" is not a number"},
      {"1 2 1e99", ":2: rating 1e99 is not from -3.4e38 to 3.4e38, the limits of a float"},
      {"1 2 3 4 5", ":2: \"5\" is more than user, item, rating and time"},
      {"1,2,3", ":2: user \"1,2,3\" is not a whole number"},
      {"user item rating", ":2: user \"user\" is not a whole number"}};
  for (auto const& [line, error] : wrong) EXPECT_EQ(refusal("8 9 1\n" + line + "\n"), error);
  EXPECT_EQ(refusal("1,,3\n"), ":1: item is missing");
  EXPECT_EQ(refusal("1::2::\n"), ":1: rating is missing");
  EXPECT_EQ(refusal(""), ": has no ratings");
  EXPECT_EQ(refusal("# nothing\nuser,item,rating\n"), ": has no ratings");
  EXPECT_EQ(refusal("\x1f\x8b..."), ": is compressed; uncompress it first");
  EXPECT_EQ(error_from([&] { factorization::read_ratings(path("none")); }, path("none")),
            ": cannot be read: No such file or directory");
}

TEST_F(rating_files, that_are_wrong_matrices) {
  std::string const banner = "%%MatrixMarket matrix coordinate ",
                    form = banner + "integer|real general";
  EXPECT_EQ(refusal(banner + "pattern general\n1 1 1\n1 1\n"),
            ":1: \"matrix coordinate pattern general\" is not read; what is: " + form);
  EXPECT_EQ(refusal(banner + "real symmetric\n1 1 1\n1 1 5\n"),
            ":1: \"matrix coordinate real symmetric\" is not read; what is: " + form);
  EXPECT_EQ(refusal(banner + "real general\n"), ": no line ROWS COLUMNS ENTRIES");
  std::string const begin = banner + "integer general\n3 4 2\n1 1 5\n";
  for (auto const& [line, error] : std::vector<std::pair<std::string, std::string>>{
           {"4 1 5", ":4: row 4 is not from 1 to 3"},
           {"0 1 5", ":4: row 0 is not from 1 to 3"},
           {"3 5 5", ":4: column 5 is not from 1 to 4"},
           {"3 4", ":4: rating is missing"},
           {"3 4 x", ":4: rating \"x\" is not a number"},
           {"3 4 5 6", ":4: \"6\" is more than belongs in this line"},
           {"3 4 5\n3 4 5", ":5: one more than the 2 entries that the file announces"},
           {"%", ":4: the file ends after 1 of 2 entries"}})
    EXPECT_EQ(refusal(begin + line + "\n"), error);
  EXPECT_EQ(refusal(banner + "real general\n3 3 0\n"), ": has no ratings");
}

}  // namespace

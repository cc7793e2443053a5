// SPDX-License-Identifier: Apache-2.0
// Rows of CSV files: quotes, line ends, chunks, and errors.

#include "apps/text/csv_reader.hpp"
#include "tests/apps/graph_folder.hpp"

#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <vector>

namespace {

using rows = std::vector<std::vector<std::string>>;

class csv_files : public test::graph_folder {
 protected:
  rows read(std::string const& text, std::size_t chunk = 4096) {
    apps::csv_reader reader{write("t", text), chunk};
    rows all;
    for (std::vector<std::string_view> fields; reader.next(fields);)
      all.emplace_back(fields.begin(), fields.end());
    return all;
  }
  std::string error(std::string const& text, std::size_t chunk = 4096) {
    return error_from([&] { read(text, chunk); }, path("t"));
  }
};

TEST_F(csv_files, rows_and_fields) {
  EXPECT_EQ(read(""), rows{});
  EXPECT_EQ(read("\n\n"), rows{});
  EXPECT_EQ(read("a,b\nc,d"), (rows{{"a", "b"}, {"c", "d"}}));
  EXPECT_EQ(read("a,b\r\n,\r\n"), (rows{{"a", "b"}, {"", ""}}));
  EXPECT_EQ(read("\xef\xbb\xbf"
                 "a , b\n\n#,\"\"\n"),
            (rows{{"a ", " b"}, {"#", ""}}));
  // A carriage return in a row is a character.
  EXPECT_EQ(read("a\rb,c\n"), (rows{{"a\rb", "c"}}));
}

TEST_F(csv_files, blank_lines_are_rows_of_one_field) {
  EXPECT_EQ(read("\na\n\n\"\"\n\r\nb\n"), (rows{{"a"}, {""}, {""}, {""}, {"b"}}));
}

TEST_F(csv_files, quotes) {
  EXPECT_EQ(read("\"a,b\",\"c\nd\r\ne\",\"\"\"\"\n\"x \"\"y\"\"\",,\"\"\n"),
            (rows{{"a,b", "c\nd\r\ne", "\""}, {"x \"y\"", "", ""}}));
  EXPECT_EQ(read("\"a\""), (rows{{"a"}}));
}

TEST_F(csv_files, chunks_of_any_size) {
  std::string const text = "\"a\r\nb\",\"c\"\"\",d\r\n,\"\",\"e,\n\"\r\n";
  for (std::size_t chunk = 18; chunk <= text.size() + 1; ++chunk) {
    SCOPED_TRACE(chunk);
    EXPECT_EQ(read(text, chunk), (rows{{"a\r\nb", "c\"", "d"}, {"", "", "e,\n"}}));
  }
}

TEST_F(csv_files, wrong_rows) {
  EXPECT_EQ(error("a,b\n1,2\n\"1\n\",2,3\n"),
            ":3: has 3 fields, the first row has 2; add the missing fields, or quote fields that "
            "contain commas");
  // Lines of a quoted field count.
  EXPECT_EQ(error("a,\"\n\n\"\n\n1\n").substr(0, 17), ":5: has 1 field, ");
  EXPECT_EQ(error("a,b\"c\n1,2\n"),
            ":1: field 2 contains a quote but does not begin with one; quote the field, and write "
            "its quotes twice");
  EXPECT_EQ(error("a,b\n\"c\"d,e\n"),
            ":2: field 1 has text after its closing quote; write a quote in a quoted field twice");
  EXPECT_EQ(error("a,b\n1,\"2\n3,4\n"),
            ":2: field 2 begins with a quote that no quote closes; add one");
  EXPECT_EQ(error("a,b\n1,2345678901\n", 10), ":2: is longer than 10 bytes, the limit for a row");
  EXPECT_EQ(error("a,b\n1,2\"34567890\n", 10).substr(0, 28), ":2: field 2 contains a quote");
}

}  // namespace

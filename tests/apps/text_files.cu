// SPDX-License-Identifier: Apache-2.0
// Files of text: line ends, marks at the beginning, numbers, and the words of a file.

#include "apps/hash_table/words.hpp"
#include "apps/text/line_reader.hpp"
#include "apps/text/text_file.hpp"
#include "tests/apps/graph_folder.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <vector>

namespace {

using testing::ElementsAre;
using namespace std::string_literals;

class text_files : public test::graph_folder {
 protected:
  /// The bytes of a file, at most `piece` at a time.
  std::string bytes_of(std::string const& text, std::size_t piece) {
    apps::text_file file{write("t", text)};
    std::string all, some(piece, ' ');
    while (std::size_t const got = file.read(some.data(), piece)) all += some.substr(0, got);
    EXPECT_EQ(file.bytes_read(), text.size());
    return all;
  }
  std::vector<std::string> lines_of(std::string const& text) {
    apps::line_reader lines{write("t", text)};
    std::vector<std::string> all;
    for (std::string_view line; lines.next(line);) all.emplace_back(line);
    return all;
  }
  std::vector<std::string> words(std::string const& text) {
    return strings(hash_table::read_words(write("t", text)));
  }
  std::vector<std::string> column(unsigned number, std::string const& text) {
    return strings(hash_table::read_column(write("t", text), number));
  }
  static std::vector<std::string> strings(hash_table::word_list const& list) {
    std::vector<std::string> all;
    for (auto const& w : list.words) all.push_back(list.text.substr(w.offset, w.length));
    return all;
  }
};

TEST_F(text_files, lines_end_in_three_ways) {
  for (std::string const end : {"\n", "\r\n", "\r"}) {
    SCOPED_TRACE(testing::PrintToString(end));
    EXPECT_THAT(lines_of("a" + end + end + " b"), ElementsAre("a", "", " b"));
    EXPECT_THAT(lines_of("a" + end + "b" + end), ElementsAre("a", "b"));
    EXPECT_THAT(lines_of(end), ElementsAre(""));
  }
  EXPECT_THAT(lines_of("a\rb\nc\r\nd\r\re"), ElementsAre("a", "b", "c", "d", "", "e"));
  EXPECT_THAT(lines_of(""), ElementsAre());
}

TEST_F(text_files, line_ends_on_the_border_of_two_reads) {
  std::string const text = "ab\r\ncd\ref\n\r\n\r\r\ngh\r";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    SCOPED_TRACE(piece);
    std::string without_returns;
    for (char const c : bytes_of(text, piece)) {
      if (c != '\r') without_returns += c;
    }
    EXPECT_EQ(without_returns, "ab\ncd\nef\n\n\n\ngh\n");
  }
  // A chunk of the line reader ends between the two characters of a line end.
  std::string const first((4u << 20) - 1, 'x');
  EXPECT_THAT(lines_of(first + "\r\ny\r\n"), ElementsAre(first, "y"));
  EXPECT_THAT(lines_of(first + "\ry\r"), ElementsAre(first, "y"));
}

TEST_F(text_files, a_byte_order_mark_is_no_text) {
  EXPECT_THAT(lines_of("\xef\xbb\xbf"), ElementsAre());
  EXPECT_THAT(lines_of("\xef\xbb\xbf"
                       "a\nb"),
              ElementsAre("a", "b"));
  EXPECT_THAT(words("\xef\xbb\xbfthe the"), ElementsAre("the", "the"));
  EXPECT_THAT(words("the \xef\xbb\xbf"), ElementsAre("the", "\xef\xbb\xbf"));
}

TEST_F(text_files, compressed_ones_are_refused) {
  for (std::string const& text :
       {"\x1f\x8b\x08\0"s, "\x1f\x9d\x90"s, "\xfd\x37zXZ\0\0"s, "\x28\xb5\x2f\xfd\x24"s,
        "PK\x03\x04\x14"s, "PK\x05\x06"s, "BZh91AY&SY\x01"s}) {
    SCOPED_TRACE(testing::PrintToString(text));
    write("t", text);
    EXPECT_EQ(error_from([&] { apps::line_reader{path("t")}; }, path("t")),
              ": is compressed; uncompress it first");
    EXPECT_EQ(error_from([&] { hash_table::read_words(path("t")); }, path("t")),
              ": is compressed; uncompress it first");
  }
  for (std::string const text : {"BZh", "BZhang 1AY&SY", "PKs", "\x1f"})
    EXPECT_EQ(bytes_of(text, 99), text);
}

TEST_F(text_files, a_pipe_may_come_in_pieces) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  std::thread writer{[&] {
    std::ofstream pipe{path("pipe"), std::ios::binary};
    for (char const c : "BZh91AY&SY\r"s) pipe << c << std::flush;
  }};
  EXPECT_EQ(error_from([&] { apps::line_reader{path("pipe")}; }, path("pipe")),
            ": is compressed; uncompress it first");
  writer.join();
}

TEST_F(text_files, blank_lines_and_comments_are_passed_over) {
  apps::line_reader lines{write("t", "# a\n \t# b\n\n \t \n 1 # c\n%\n")};
  std::string_view line;
  ASSERT_TRUE(lines.next_data(line, "#"));
  EXPECT_EQ(line, " 1 # c");
  EXPECT_EQ(lines.here().line, 5u);
  ASSERT_TRUE(lines.next_data(line, "#"));
  EXPECT_EQ(line, "%");
  EXPECT_FALSE(lines.next_data(line, "#"));
}

TEST_F(text_files, numbers) {
  std::string const name = "t";
  apps::text_place const at{name, 7};
  auto const whole = [&](std::string const& text) {
    return apps::whole_number(text, "n", {1, 20, " of them"}, at);
  };
  auto const error = [&](auto f, std::string const& text) {
    return error_from([&] { f(text); }, "t:7: n ");
  };
  EXPECT_EQ(whole("+7"), 7u);
  EXPECT_EQ(whole("00000000000000000000000000020"), 20u);
  for (std::string const text : {"++7", "+-7", "-", "+", "7.", "0x7", "7 "})
    EXPECT_EQ(error(whole, text), "\"" + text + "\" is not a whole number");
  EXPECT_EQ(error(whole, "-7"), "-7 is negative");
  for (std::string const text : {"0", "21", "99999999999999999999"})
    EXPECT_EQ(error(whole, text), text + " is not from 1 to 20 of them");
  EXPECT_EQ(error(whole, ""), "is missing");

  auto const real = [&](std::string const& text) { return apps::real_number(text, "n", at); };
  EXPECT_EQ(real("+1.0E+00"), 1);
  EXPECT_EQ(real("-2."), -2);
  EXPECT_EQ(real("+.5"), 0.5);
  EXPECT_EQ(real("1E-999"), 0);
  EXPECT_EQ(real("-1e999"), -HUGE_VAL);
  EXPECT_EQ(real("inf"), HUGE_VAL);
  for (std::string const text : {"x", "nan", "+-1", "++1", "1e", "1,5"})
    EXPECT_EQ(error(real, text), "\"" + text + "\" is not a number");
  EXPECT_EQ(error(real, ""), "is missing");
}

TEST_F(text_files, words_are_runs_of_letters_and_digits) {
  EXPECT_THAT(words("One,two  two_3\r\n\xc3\xa4hm."),
              ElementsAre("One", "two", "two_3", "\xc3\xa4hm"));
  EXPECT_THAT(words("a\rb"), ElementsAre("a", "b"));
}

TEST_F(text_files, columns) {
  EXPECT_THAT(column(2, "# head\n1 2\r\n\n3,\t4\n \t% x\n5\t6 \n  7   8  \n"),
              ElementsAre("2", "4", "6", "8"));
  EXPECT_THAT(column(1, "  # head\n New York , 2\n3 4\n"), ElementsAre("New York", "3"));
  EXPECT_EQ(error_from([&] { column(2, "1 2\r3 \r"); }, path("t")), ":2: no column 2");
  EXPECT_EQ(error_from([&] { column(1, "PK\x03\x04"); }, path("t")),
            ": is compressed; uncompress it first");
}

TEST_F(text_files, an_empty_field_is_a_field) {
  EXPECT_THAT(column(2, "a,,c\nb,x,d\n,,\n1\t\t3\n"), ElementsAre("", "x", "", ""));
  EXPECT_THAT(column(1, ",b\n\tb\n, \n"), ElementsAre("", "", ""));
  EXPECT_THAT(column(3, "a,b,\r\na\tb\t\n"), ElementsAre("", ""));
  EXPECT_EQ(error_from([&] { column(3, "a,\n"); }, path("t")), ":1: no column 3");
}

}  // namespace

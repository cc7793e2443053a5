// SPDX-License-Identifier: Apache-2.0
// Files of transfers: valid ones, invalid ones, and added audits.

#include "apps/bank_transfer/trace.hpp"
#include "tests/apps/bank_traces.cuh"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using bank_transfer::trace;

class traces : public testing::Test {
 protected:
  traces()
      : path_{std::filesystem::temp_directory_path() / ("trace." + std::to_string(getpid()))} {}
  ~traces() override { std::filesystem::remove(path_); }

  trace read(std::string const& text, std::uint32_t accounts = bank_transfer::most_accounts) {
    std::ofstream{path_, std::ios::binary} << text;
    return bank_transfer::read_trace(path_, accounts);
  }
  /// Returns the error's text after the file's name.
  std::string error_of(std::string const& text,
                       std::uint32_t accounts = bank_transfer::most_accounts) {
    try {
      read(text, accounts);
    } catch (std::runtime_error const& e) {
      std::string const what = e.what();
      EXPECT_EQ(what.substr(0, path_.string().size()), path_.string());
      return what.substr(path_.string().size());
    }
    return "no error";
  }

  std::filesystem::path path_;
};

TEST_F(traces, are_read) {
  std::vector<std::uint32_t> const from{1, 67108863}, to{2, 0}, amounts{100, 4294967295};
  for (std::string const text :
       {"1,2,100\n67108863,0,4294967295\n", "from,to,amount\n1,2,100\n67108863,0,4294967295",
        "from,to,amount\r\n1,2,100\r\n67108863,0,4294967295\r\n",
        "\xef\xbb\xbf"
        "from, to, amount\n\n# a comment\n 1 ,\t2, 0100\n\r\n67108863,0,4294967295\n",
        " \t# a comment\rfrom,to,amount\r+1,2,100\r67108863,+0,4294967295\r"}) {
    SCOPED_TRACE(text);
    trace const t = read(text);
    EXPECT_EQ(t.from, from);
    EXPECT_EQ(t.to, to);
    EXPECT_EQ(t.amounts, amounts);
  }
}

TEST_F(traces, that_are_wrong) {
  std::string const good = "from,to,amount\n1,2,100\n";
  for (auto const& [line, error] : std::vector<std::pair<std::string, std::string>>{
           {"1,2", ":3: 2 columns; a transfer has 3: from,to,amount"},
           {"1", ":3: 1 column; a transfer has 3: from,to,amount"},
           {"1,2,3,4", ":3: 4 columns; a transfer has 3: from,to,amount"},
           {"1,2,3,", ":3: 4 columns; a transfer has 3: from,to,amount"},
           {"1,,3", ":3: to is missing"},
           {"1,2,", ":3: amount is missing"},
           {"x,2,3", ":3: from \"x\" is not a whole number"},
           {"1,2,3.50", ":3: amount \"3.50\" is not a whole number"},
           {"1,2,++3", ":3: amount \"++3\" is not a whole number"},
           {"1,2,-", ":3: amount \"-\" is not a whole number"},
           {"1,2 3,4", ":3: to \"2 3\" is not a whole number"},
           {"1,\"2\",3", ":3: to \"\"2\"\" is not a whole number"},
           {"1,2," + std::string(60, 'z'),
            ":3: amount \"" + std::string(40, 'z') + "...\" is not a whole number"},
           {"1,2,-5", ":3: amount -5 is negative"},
           {"-1,2,5", ":3: from -1 is negative"},
           {"1,2,0", ":3: amount 0 is not from 1 to 4294967295 cents"},
           {"1,2,4294967296", ":3: amount 4294967296 is not from 1 to 4294967295 cents"},
           {"1,2,99999999999999999999",
            ":3: amount 99999999999999999999 is not from 1 to 4294967295 cents"},
           {"67108864,2,1",
            ":3: from 67108864 is not from 0 to 67108863, as there are 67108864 accounts"},
           {"1,99999999999999999999,1",
            ":3: to 99999999999999999999 is not from 0 to 67108863, as there are 67108864 "
            "accounts"},
           {"from,to,amount", ":3: from \"from\" is not a whole number"}}) {
    EXPECT_EQ(error_of(good + line + "\n1,2,3\n"), error);
    EXPECT_EQ(error_of(good + line), error) << "without a line end";
  }
  EXPECT_EQ(error_of(good + "\n# here\n10,2,5\n", 10),
            ":5: from 10 is not from 0 to 9, as there are 10 accounts");
  EXPECT_EQ(error_of("to,from,amount\n1,2,3\n"), ":1: from \"to\" is not a whole number");
  EXPECT_EQ(error_of(""), ": no transfers");
  EXPECT_EQ(error_of("PK\x03\x04"), ": is compressed; uncompress it first");
  EXPECT_EQ(error_of("from,to,amount\n# none\n"), ": no transfers");
  std::filesystem::remove(path_);
  try {
    bank_transfer::read_trace(path_);
    ADD_FAILURE() << "no error";
  } catch (std::runtime_error const& e) {
    EXPECT_EQ(e.what(), path_.string() + ": cannot be read: No such file or directory");
  }
}

TEST_F(traces, get_audits_between_their_transfers) {
  trace const t = test::drawn(1000, 10, 100);
  trace const all = with_audits(t, 10);
  std::uint32_t const period = bank_transfer::operations_for_a_pair;
  std::size_t next = 0;
  std::uint32_t audits = 0, within = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i % period != period - 1) {
      ASSERT_EQ(std::tuple(all.from[i], all.to[i], all.amounts[i]),
                std::tuple(t.from[next], t.to[next], t.amounts[next]));
      ++next;
    } else {
      ASSERT_EQ((all.from[i] - 10) ^ 1, all.to[i] - 10);
      ASSERT_LT(all.from[i], 10 + 2 * bank_transfer::pairs_for(10));
      (all.amounts[i] == 0 ? audits : within) += 1;
    }
  }
  EXPECT_EQ(next, t.size());
  EXPECT_EQ(audits, 16u);
  EXPECT_EQ(within, 16u);
}

}  // namespace

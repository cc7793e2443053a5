// SPDX-License-Identifier: Apache-2.0
// The transport benchmark's verification: it accepts messages that were sent and received once, and
// nothing else.

#include "microbench/transport/ceiling.cuh"
#include "microbench/transport/channels.cuh"
#include "tests/support/support.cuh"

#include <gtest/gtest.h>

#include <cstdint>

namespace {

using namespace transport;

/// Receives by slices; `Fault` says how often each thread's first message is received, and as what.
template <class Ref, class Fault>
class faulty_slices : public adding_slices<Ref> {
 public:
  using base = adding_slices<Ref>;
  using base::base;
  WARDEN_DEVICE bool run(typename base::message_type m, bool arrived) {
    bool const is_first = arrived && !began_;
    began_ = began_ || arrived;
    if (is_first) m.flits[0].second ^= Fault::changed_bits;
    for (int time = 1; time < Fault::times; ++time) base::run(m, is_first);
    return base::run(m, arrived && (Fault::times != 0 || !is_first));
  }

 private:
  bool began_ = false;
};
template <int Times, std::uint64_t ChangedBits, template <class, class> class Server>
struct fault {
  static constexpr auto kind = warden::detail::part_kind::executor;
  static constexpr int times = Times;
  static constexpr std::uint64_t changed_bits = ChangedBits;
  template <class Ref>
  using server = Server<Ref, faulty_slices<Ref, fault>>;
};
template <template <class, class> class Server>
struct faults {
  using none = fault<1, 0, Server>;
  using lost = fault<0, 0, Server>;
  using doubled = fault<2, 0, Server>;
  using torn = fault<1, 1u << 7, Server>;
};

/// Forgets the first message of each thread.
struct forgetful_level {
  template <class Ref>
  class client : public thread_level::client<Ref> {
   public:
    using base = thread_level::client<Ref>;
    using base::base;
    template <class Section>
    WARDEN_DEVICE void send(std::uint32_t id, Section const& s, bool valid) {
      base::send(id, s, valid && ++sent_ != 1);
    }

   private:
    unsigned sent_ = 0;
  };
};

template <class Readiness, class Executor, class Sender>
bool verified(std::uint32_t messages) {
  channels<Readiness, Executor, run_totals, null_section<1>> through{4};
  return run<Sender>(through, messages).verified;
}

using by_thread = send_by<thread_level, 1>;
using by_block = send_by<block_level, 1>;

TEST(transport, what_arrives_once_is_verified) {
  for (std::uint32_t const messages : {0u, 1u, 255u, 1000u, test::sized(5000u, 1u << 20)}) {
    EXPECT_TRUE((verified<in_band, slices, by_thread>(messages))) << messages;
    EXPECT_TRUE((verified<in_band, windows, by_block>(messages))) << messages;
    EXPECT_TRUE((verified<in_band, windows, send_unsorted<1>>(messages))) << messages;
    EXPECT_TRUE((verified<single_tag, windows, by_block>(messages))) << messages;
    EXPECT_TRUE((verified<single_tag, windows, send_unsorted<1>>(messages))) << messages;
    EXPECT_TRUE((verified<bitmask, leader, by_block>(messages))) << messages;
  }
}

template <class Readiness, class Faults, class Sender>
void expect_missed(std::uint32_t messages) {
  SCOPED_TRACE(Readiness::name);
  EXPECT_TRUE((verified<Readiness, typename Faults::none, Sender>(messages)));
  EXPECT_FALSE((verified<Readiness, typename Faults::lost, Sender>(messages)));
  EXPECT_FALSE((verified<Readiness, typename Faults::doubled, Sender>(messages)));
  EXPECT_FALSE((verified<Readiness, typename Faults::torn, Sender>(messages)));
}
TEST(transport, a_message_lost_doubled_or_torn_is_not) {
  std::uint32_t const messages = test::sized(1000u, 1u << 20);
  expect_missed<in_band, faults<warden::detail::slice_server>, by_thread>(messages);
  expect_missed<single_tag, faults<warden::detail::slice_server>, by_block>(messages);
  expect_missed<bitmask, faults<warden::detail::leader_server>, by_block>(messages);
}

TEST(transport, a_message_never_sent_is_missed) {
  std::uint32_t const messages = test::sized(1u << 15, 1u << 20);
  EXPECT_FALSE((verified<in_band, slices, send_by<forgetful_level, 1>>(messages)));
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// One `wait` throws all errors since the last one, and reports the work that was skipped after a
// failure with them.

#include "tests/protocol/replay.cuh"
#include "tests/protocol/shared_launches.cuh"
#include "tests/support/error_text.hpp"

#include <warden/deferred.cuh>

#include <gmock/gmock.h>

#include <exception>
#include <functional>
#include <source_location>
#include <string>
#include <vector>

namespace {

using test::shared;
using test::shared_record;
using test::shared_records;
using test::task;
using test::tasks;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::StartsWith;
using warden::error_kind;
using warden::error_type;

/// All kinds that the `Error` reports that `action` throws; none if it throws none.
template <class Error, class Action>
std::vector<error_kind> kinds_of(Action action) {
  try {
    action();
  } catch (Error const& e) {
    return e.all();
  }
  return {};
}
auto kind(error_type type, std::uint64_t count, std::string const& text) {
  return AllOf(Field(&error_kind::type, type), Field(&error_kind::count, count),
               Field(&error_kind::example, HasSubstr(text)));
}

/// Asks for more shared memory than there is, and sends to ids that are none.
struct ask_and_send {
  struct shared_storage {
    char bytes[64];
  };
  struct larger {
    char bytes[128];
  };
  __device__ void operator()(warden::virtual_block const& at, shared::ref const& ref) const {
    static_cast<void>(at.shared<larger>());
    warden::thread_client<shared::ref>{ref, at}.send(at.thread_rank() % 8, shared_record::of(1));
  }
};
TEST(errors, of_several_kinds_are_thrown_together) {
  shared_records a;
  warden::launch_fused(ask_and_send{}, 1, 64, {}, a.guarded);
  try {
    a.guarded.wait();
    FAIL() << "no error";
  } catch (warden::limit_error const& e) {
    EXPECT_THAT(e.all(), ElementsAre(kind(error_type::limit, 32, "(32 such ids; the other "),
                                     kind(error_type::limit, 1, "128 bytes asked for")));
    EXPECT_EQ(e.what(), e.all()[0].example + "\n" + e.all()[1].example +
                            " (errors.cu:" + std::to_string(e.line()) + ")");
  }
  EXPECT_EQ(test::error_text(a.guarded), "") << "reported once";
  EXPECT_EQ(a.count(), 32u);
}

TEST(errors, of_a_stopped_launch_are_thrown_with_it) {
  shared_records a;
  tasks t;
  warden::launch_fused(ask_and_send{}, 1, 64, {}, a.guarded);
  t.launch(task::stop, {}, a);
  try {
    a.guarded.wait();
    FAIL() << "no error";
  } catch (warden::timeout_error const& e) {
    EXPECT_EQ(e.dump().wait.kind, warden::wait_kind::lock);
    EXPECT_THAT(e.all(), ElementsAre(kind(error_type::timeout, 1, "waited for a lock"),
                                     kind(error_type::limit, 32, "(32 such ids)"),
                                     kind(error_type::limit, 1, "128 bytes asked for")));
  }
  EXPECT_EQ(test::error_text(a.guarded), "") << "reported once";
}

TEST(errors, name_the_launches_that_were_skipped_and_why) {
  shared_records a, b;
  tasks t;
  t.launch(task::stop, {}, a);
  for (int i = 0; i < 3; ++i) t.launch(task::send, {}, a, b);
  EXPECT_THAT(kinds_of<warden::timeout_error>([&] { a.guarded.wait(); }),
              ElementsAre(kind(error_type::timeout, 1, "waited for a lock"),
                          kind(error_type::limit, 3,
                               "launch_fused: 3 launches did not run, because an earlier launch or "
                               "run of the guarded array had failed: it waited for a lock")));
  EXPECT_THAT(
      kinds_of<warden::timeout_error>([&] { b.guarded.wait(); }),
      ElementsAre(kind(error_type::timeout, 3,
                       "an earlier one, with its guarded array 0, had failed: it waited for a "
                       "lock")));
  for (shared_records* g : {&a, &b}) EXPECT_NO_THROW(g->guarded.wait());
  t.launch(task::send, {}, a, b);
  for (shared_records* g : {&a, &b}) EXPECT_NO_THROW(g->guarded.wait());
  EXPECT_EQ(a.count() + b.count(), 128u);
}

/// Stops its launch at once.
struct stop_launch {
  template <class Ref>
  __device__ void operator()(warden::virtual_block const& at, Ref const& ref) const {
    if (at.global_rank() == 0) ref.launch.poison(warden::wait_kind::credit, 0, 0, 0);
  }
};
TEST(errors, name_the_runs_that_were_skipped_and_why) {
  replay::bench b{20, {.servers = 2}};
  warden::deferred later{b.on(), 300};
  b.send_alone(later, 0, 200);
  warden::launch_fused(stop_launch{}, 1, {}, b.on());
  later.run();
  later.run();
  EXPECT_THAT(
      kinds_of<warden::timeout_error>([&] { b.on().wait(); }),
      ElementsAre(kind(error_type::timeout, 1, "waited for credit"),
                  kind(error_type::limit, 2,
                       "run: 2 runs of logs did not run, because an earlier launch or run "
                       "of the guarded array had failed: it waited for credit (a free slot); "
                       "what the logs hold is still there: run again")));
  EXPECT_NO_THROW(b.on().wait()) << "reported once";
  EXPECT_EQ(b.ran(), 0u);
  later.run();
  EXPECT_NO_THROW(b.on().wait());
  b.expect_ran(0, 200);
}

/// "The other sections were executed" is said of bad ids alone.
TEST(errors, of_bad_ids_tell_of_the_other_sections_what_is_true) {
  auto const text_of = [](warden::misuse_counts const& counts, std::uint64_t never_run) {
    warden::error_list found;
    warden::add_misuse(found, counts, 10, 1, never_run, {});
    return test::refusal([&] { found.throw_all(std::source_location::current()); });
  };
  std::string const said = "(1 such id; the other sections were executed)";
  warden::misuse_counts counts{};
  counts.bad_ids = 1;
  counts.first_bad_id = 11;
  EXPECT_THAT(text_of(counts, 0), HasSubstr(said));
  EXPECT_THAT(text_of(counts, 1), testing::Not(HasSubstr(said)));
  for (auto const lost : {&warden::misuse_counts::refused, &warden::misuse_counts::given_up,
                          &warden::misuse_counts::runs_put_off, &warden::misuse_counts::apart}) {
    warden::misuse_counts both = counts;
    both.*lost = 2;
    EXPECT_THAT(text_of(both, 0), AllOf(HasSubstr("(1 such id): "), testing::Not(HasSubstr(said))));
  }
}

TEST(error_list, throws_all_kinds_as_the_most_severe_type) {
  auto const where = std::source_location::current();
  std::vector<std::function<void(warden::error_list&)>> const add{
      [&](auto& l) { l.collect([&] {
                       throw warden::cuda_error{700, "lost", where};
                     }); },
      [&](auto& l) { l.collect([&] {
                       throw warden::communicator_error{"torn", where};
                     }); },
      [&](auto& l) {
        warden::diagnosis d;
        d.wait.kind = warden::wait_kind::tile;
        l.add(d, 4);
      },
      [](auto& l) { l.add(error_type::limit, "many", 3); },
      [](auto& l) { l.add(error_type::other_rank, "elsewhere"); }};
  for (std::size_t first = 0; first < add.size(); ++first) {
    // The least severe one comes first.
    warden::error_list all;
    for (std::size_t k = add.size(); k-- > first;) add[k](all);
    try {
      all.throw_all(where);
      FAIL() << "no error";
    } catch (warden::error const& e) {
      std::vector<bool> const types{dynamic_cast<warden::cuda_error const*>(&e) != nullptr,
                                    dynamic_cast<warden::communicator_error const*>(&e) != nullptr,
                                    dynamic_cast<warden::timeout_error const*>(&e) != nullptr,
                                    dynamic_cast<warden::limit_error const*>(&e) != nullptr,
                                    dynamic_cast<warden::other_rank_error const*>(&e) != nullptr};
      for (std::size_t k = 0; k < types.size(); ++k) EXPECT_EQ(types[k], k == first) << k;
      ASSERT_EQ(e.all().size(), add.size() - first);
      std::string text;
      for (std::size_t k = first; k < add.size(); ++k) {
        EXPECT_EQ(static_cast<std::size_t>(e.all()[k - first].type), k);
        text += (k == first ? "" : "\n") + e.all()[k - first].example;
      }
      EXPECT_THAT(e.what(), StartsWith(text + " (errors.cu:"));
      if (auto const* const failed = dynamic_cast<warden::cuda_error const*>(&e)) {
        EXPECT_EQ(failed->code(), 700);
      }
      if (auto const* const late = dynamic_cast<warden::timeout_error const*>(&e)) {
        EXPECT_EQ(late->dump().wait.kind, warden::wait_kind::tile);
      }
    }
  }
  EXPECT_NO_THROW(warden::error_list{}.throw_all(where));
}

/// An error of a class that the library does not know.
struct own_error : warden::error {
  using error::error;
};
TEST(error_list, keeps_an_exception_that_is_alone) {
  auto const where = std::source_location::current();
  warden::error_list alone;
  alone.collect([&] { throw own_error{"strange", where}; });
  EXPECT_THROW(alone.throw_all(where), own_error);
  alone.collect([&] { throw own_error{"strange", where}; });
  alone.add(error_type::limit, "many");
  EXPECT_THROW(alone.throw_all(where), warden::cuda_error);
}

}  // namespace

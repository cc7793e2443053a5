// SPDX-License-Identifier: Apache-2.0
// Error types, lists of errors and the text of a dump.

#include <warden/error.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

WARDEN_HOST_NAMESPACE_BEGIN

namespace {

// Returns the base name: the folders of a build are of no use to the reader.
char const* base_name(char const* path) {
  char const* slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

template <class... Values>
std::string format(char const* pattern, Values... values) {
  char text[512];
  std::snprintf(text, sizeof(text), pattern, values...);
  return text;
}

std::vector<error_kind> one(error_type type, std::string const& message) {
  return {{type, 1, message}};
}

std::string text_of(std::vector<error_kind> const& all, std::source_location where) {
  std::string text;
  for (error_kind const& kind : all) text += (text.empty() ? "" : "\n") + kind.example;
  return text + " (" + base_name(where.file_name()) + ":" + std::to_string(where.line()) + ")";
}

}  // namespace

error::error(std::string const& message, std::source_location where)
    : error{one(error_type::device, message), where} {}
error::error(std::vector<error_kind> all, std::source_location where)
    : std::runtime_error{text_of(all, where)}, where_{where}, all_{std::move(all)} {}

cuda_error::cuda_error(int code, std::string const& message, std::source_location where)
    : cuda_error{code, one(error_type::device, message), where} {}
cuda_error::cuda_error(int code, std::vector<error_kind> all, std::source_location where)
    : error{std::move(all), where}, code_{code} {}

communicator_error::communicator_error(std::string const& message, std::source_location where)
    : communicator_error{one(error_type::communicator, message), where} {}
communicator_error::communicator_error(std::vector<error_kind> all, std::source_location where)
    : error{std::move(all), where} {}

other_rank_error::other_rank_error(std::string const& message, std::source_location where)
    : other_rank_error{one(error_type::other_rank, message), where} {}
other_rank_error::other_rank_error(std::vector<error_kind> all, std::source_location where)
    : error{std::move(all), where} {}

limit_error::limit_error(std::string const& message, std::source_location where)
    : limit_error{one(error_type::limit, message), where} {}
limit_error::limit_error(std::vector<error_kind> all, std::source_location where)
    : error{std::move(all), where} {}

void throw_limit_error(char const* text, std::initializer_list<std::uint64_t> numbers,
                       std::source_location where) {
  std::string message;
  auto number = numbers.begin();
  for (; *text != '\0'; ++text) {
    if (*text == '%' && number != numbers.end()) {
      message += std::to_string(*number++);
    } else {
      message += *text;
    }
  }
  throw limit_error{message, where};
}

void demand_memory(char const* what, void const* memory, std::uint64_t count,
                   std::source_location where) {
  if (memory != nullptr || count == 0) return;
  throw limit_error{std::string{what} + " at a null pointer, " + std::to_string(count) +
                        " of them: pass device memory",
                    where};
}

void demand_time_limit(char const* of, double seconds, std::source_location where) {
  if (seconds > 0 && seconds <= 1e6) return;
  throw limit_error{
      format("%s: a time limit of %.15g s; it is above 0 and at most 1000000", of, seconds), where};
}

timeout_error::timeout_error(diagnosis what, std::source_location where)
    : error{one(error_type::timeout, to_string(what)), where}, dump_{std::move(what)} {}
timeout_error::timeout_error(diagnosis dump, std::vector<error_kind> all,
                             std::source_location where)
    : error{std::move(all), where}, dump_{std::move(dump)} {}

void error_list::add(error_type type, std::string example, std::uint64_t count) {
  alone_ = nullptr;
  all_.push_back({type, count, std::move(example)});
}
void error_list::add(diagnosis dump, std::uint64_t count) {
  add(error_type::timeout, to_string(dump), count);
  if (!dump_) dump_ = std::move(dump);
}
void error_list::add(error const& e) {
  alone_ = nullptr;
  all_.insert(all_.end(), e.all().begin(), e.all().end());
  if (auto const* const failed = dynamic_cast<cuda_error const*>(&e); failed && code_ == 0)
    code_ = failed->code();
  if (auto const* const late = dynamic_cast<timeout_error const*>(&e); late && !dump_)
    dump_ = late->dump();
}
void error_list::throw_all(std::source_location where) {
  if (alone_) std::rethrow_exception(alone_);
  if (all_.empty()) return;
  std::stable_sort(all_.begin(), all_.end(),
                   [](error_kind const& a, error_kind const& b) { return a.type < b.type; });
  switch (all_.front().type) {
    case error_type::device:
      throw cuda_error{code_, std::move(all_), where};
    case error_type::communicator:
      throw communicator_error{std::move(all_), where};
    case error_type::timeout:
      throw timeout_error{std::move(dump_).value_or(diagnosis{}), std::move(all_), where};
    case error_type::limit:
      throw limit_error{std::move(all_), where};
    case error_type::other_rank:
      throw other_rank_error{std::move(all_), where};
  }
}

char const* to_string(wait_kind kind) {
  switch (kind) {
    case wait_kind::nothing:
      return "nothing";
    case wait_kind::credit:
      return "credit (a free slot)";
    case wait_kind::message:
      return "message (a reserved slot to be published)";
    case wait_kind::earlier:
      return "an earlier launch";
    case wait_kind::answer:
      return "the answer to a call";
    case wait_kind::room:
      return "room in a ring";
    case wait_kind::lock:
      return "a lock";
    case wait_kind::record_tile:
      return "a tile of the records";
    case wait_kind::tile:
      return "a tile";
    case wait_kind::task:
      return "a task";
    case wait_kind::task_slot:
      return "a slot of a task queue";
    case wait_kind::record_turn:
      return "earlier sections on a record";
  }
  return "something unknown";
}

std::string to_string(diagnosis const& d) {
  if (d.wait.kind == wait_kind::earlier) {
    return format(
        "a launch did not run: an earlier one, with its guarded array %u, had failed: it waited "
        "for %s",
        d.wait.guarded, to_string(d.wait.cause));
  }
  auto const index = static_cast<unsigned long long>(d.wait.index);
  if (d.wait.kind == wait_kind::room) {
    return format(
        "the ring of server %u of guarded array %u is full: its %llu slots do not hold what "
        "sections "
        "that send more than one other have sent; give the guarded array a larger forward_capacity",
        d.wait.channel, d.wait.guarded, index);
  }
  if (d.wait.kind == wait_kind::record_tile) {
    return format(
        "no progress for %g s: block %u of a run in rounds waited until tile %u of the records had "
        "been in %llu tile pairs",
        d.limit_seconds, d.wait.block, d.wait.channel, index);
  }
  if (d.wait.kind == wait_kind::tile) {
    return format(
        "no progress for %g s: block %u of an allocation in order waited for the places of tile "
        "%llu",
        d.limit_seconds, d.wait.block, index);
  }
  if (d.wait.kind == wait_kind::task) {
    return format(
        "no progress for %g s: block %u, thread %u waited for a task, one of %u waiting threads in "
        "%u blocks; the queue has %llu uncompleted task%s, %u of them in its rings; if tasks run "
        "longer, raise the time_limit",
        d.limit_seconds, d.wait.block, d.wait.thread, d.wait.client_blocks_done,
        d.wait.client_blocks, index, index == 1 ? "" : "s", d.wait.channel);
  }
  if (d.wait.kind == wait_kind::task_slot) {
    return format(
        "no progress for %g s: block %u, thread %u waited for the slot of task %llu of a task "
        "queue, which another thread had taken",
        d.limit_seconds, d.wait.block, d.wait.thread, index);
  }
  if (d.wait.kind == wait_kind::record_turn) {
    return format(
        "no progress for %g s: block %u, thread %u waited with section %llu on several records "
        "until %u accesses to one of them had finished; if sections run longer, raise "
        "time_limit_seconds",
        d.limit_seconds, d.wait.block, d.wait.thread, index, d.wait.channel);
  }
  std::string const what =
      d.wait.kind == wait_kind::answer
          ? format("the answer to its call %llu", index)
          : format("%s at index %llu of channel %u", to_string(d.wait.kind), index, d.wait.channel);
  std::string text = format(
      "no progress for %g s: block %u, thread %u waited for %s of guarded array %u; %u of %u "
      "client "
      "blocks had finished",
      d.limit_seconds, d.wait.block, d.wait.thread, what.c_str(), d.wait.guarded,
      d.client_blocks_done, d.client_blocks);
  for (channel_state const& c : d.channels) {
    // A channel that is empty and whose server ran has nothing to tell.
    if (c.started && c.reserved == c.released) continue;
    text += format(
        "\n  guarded %u, %s %u%s: reserved %llu, published %llu, executed %llu, "
        "released %llu, capacity %u",
        c.guarded, c.is_ring ? "ring of server" : "server", c.server,
        c.started ? "" : " (never started)", static_cast<unsigned long long>(c.reserved),
        static_cast<unsigned long long>(c.published), static_cast<unsigned long long>(c.executed),
        static_cast<unsigned long long>(c.released), c.capacity);
  }
  for (credits_state const& t : d.credits) {
    text +=
        format("\n  guarded %u: sections of servers under way: %lld, of %llu at most", t.guarded,
               static_cast<long long>(t.credits) - static_cast<long long>(t.available),
               static_cast<unsigned long long>(t.credits));
  }
  return text;
}

WARDEN_HOST_NAMESPACE_END

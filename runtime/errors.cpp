// SPDX-License-Identifier: Apache-2.0
// Error types and the text of a dump.

#include <warden/error.hpp>

#include <cstdio>
#include <cstring>
#include <utility>

WARDEN_HOST_NAMESPACE_BEGIN

namespace {

// Base name only: a build's folders are nobody's business.
char const* base_name(char const* path) {
  char const* slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
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
    case wait_kind::part:
      return "a part of the records";
    case wait_kind::tile:
      return "a tile";
  }
  return "something unknown";
}

template <class... Values>
std::string format(char const* pattern, Values... values) {
  char text[256];
  std::snprintf(text, sizeof(text), pattern, values...);
  return text;
}

}  // namespace

error::error(std::string const& message, std::source_location where)
    : std::runtime_error{message + " (" + base_name(where.file_name()) + ":" +
                         std::to_string(where.line()) + ")"},
      where_{where} {}

cuda_error::cuda_error(int code, std::string const& message, std::source_location where)
    : error{message, where}, code_{code} {}

communicator_error::communicator_error(std::string const& message, std::source_location where)
    : error{message, where} {}

other_rank_error::other_rank_error(std::string const& message, std::source_location where)
    : error{message, where} {}

limit_error::limit_error(std::string const& message, std::source_location where)
    : error{message, where} {}

timeout_error::timeout_error(diagnosis what, std::source_location where)
    : error{to_string(what), where}, dump_{std::move(what)} {}

std::string to_string(diagnosis const& d) {
  if (d.wait.kind == wait_kind::earlier) {
    return format("a launch did not run: an earlier one, with its guarded %u, had failed",
                  d.wait.guarded);
  }
  auto const index = static_cast<unsigned long long>(d.wait.index);
  if (d.wait.kind == wait_kind::room) {
    return format(
        "the ring of server %u of guarded %u is full: its %llu slots do not hold what sections "
        "that send more than one other have sent; give the guarded a larger forward_capacity",
        d.wait.channel, d.wait.guarded, index);
  }
  if (d.wait.kind == wait_kind::part) {
    return format(
        "no progress for %g s: block %u of a run in rounds waited until part %u of the records had "
        "played %llu games",
        d.limit_seconds, d.wait.block, d.wait.channel, index);
  }
  if (d.wait.kind == wait_kind::tile) {
    return format(
        "no progress for %g s: block %u of an allocation in order waited for the places of tile "
        "%llu",
        d.limit_seconds, d.wait.block, index);
  }
  std::string const what =
      d.wait.kind == wait_kind::answer
          ? format("the answer to its call %llu", index)
          : format("%s at index %llu of channel %u", to_string(d.wait.kind), index, d.wait.channel);
  std::string text = format(
      "no progress for %g s: block %u, thread %u waited for %s of guarded %u; %u of %u client "
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
  for (tokens_state const& t : d.tokens) {
    text +=
        format("\n  guarded %u: sections of servers under way: %lld, of %llu at most", t.guarded,
               static_cast<long long>(t.tokens) - static_cast<long long>(t.available),
               static_cast<unsigned long long>(t.tokens));
  }
  return text;
}

WARDEN_HOST_NAMESPACE_END

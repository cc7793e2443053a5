// SPDX-License-Identifier: Apache-2.0
// Scenarios of launches that share guarded arrays, ordinary ones and replays, some of them failing.

#include "scenario.hpp"

#include <warden/stream.hpp>

#include <optional>

using scenario::failure;
using scenario::tally;

namespace {

using policy = warden::policy<warden::options{.block_threads = 32}>;
struct one {
  static constexpr bool reads_other_memory = false;
  void operator()(tally& t, warden::no_context) const { t.count += 1; }
};
using guarded = warden::basic_guarded<policy, tally, one>;

enum task : unsigned char { send, forget, stop };
constexpr unsigned grid = 3;

struct act {
  task const* what;
  template <class First, class... Rest>
  void operator()(warden::virtual_block const& at, First const& first, Rest const&... rest) const {
    if (*what == send) {
      each(at, first);
      (each(at, rest), ...);
    } else if (at.global_rank() == 0) {
      // A gap in the last one's channel, or an end at once.
      if (*what == forget) last_of(first, rest...).channel_of(0).reserve(1);
      if (*what == stop) first.launch.poison(warden::wait_kind::lock, 0, 0, 0);
    }
  }
  template <class Ref>
  static Ref const& last_of(Ref const& ref) {
    return ref;
  }
  template <class Ref, class Next, class... Rest>
  static auto const& last_of(Ref const&, Next const& next, Rest const&... rest) {
    return last_of(next, rest...);
  }
  template <class Ref>
  static void each(warden::virtual_block const& at, Ref const& ref) {
    warden::thread_client<Ref>{ref, at}.send(at.thread_rank() % 2, one{});
  }
};

/// A guarded array, and a model of its state.
struct guarded_and_model {
  warden::buffer<tally> records{2};
  guarded real = make(records);
  std::optional<warden::wait_kind> unreported;
  std::uint64_t count = 0;
  bool replayed = false;  ///< by the last launch

  static guarded make(warden::buffer<tally>& records) {
    records.fill_bytes(0);
    warden::guarded_options o{.servers = 1, .capacity = 64, .time_limit_seconds = 1};
    o.minimum_polls = 64;
    return {records, o};
  }
};

/// Launches in order, whatever their streams, and waits anywhere among them.
class shared_launches {
 public:
  explicit shared_launches(std::uint64_t seed) : random_{seed * 0x9e3779b97f4a7c15ull} {
    word_.fill_bytes(send);
    warden::stream_ref{}.synchronize();
    for (auto& one : all_) warden::prepare_fused(one.real);
    graphs_.push_back(capture(0, 1));
    graphs_.push_back(capture(1, 2, 0));
  }
  void run() {
    for (int i = 0; i < 40; ++i) {
      if (below(3) != 0) {
        launch();
      } else {
        wait(below(3));
      }
    }
    for (unsigned g = 0; g < 3; ++g) {
      wait(g);
      auto const seen = all_[g].records.to_host();
      if (seen[0].count + seen[1].count != all_[g].count) throw failure{"torn or lost message"};
    }
  }

 private:
  struct captured {
    warden::graph graph;
    std::vector<unsigned> members;
  };

  unsigned below(unsigned bound) {
    random_ = random_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<unsigned>((random_ >> 33) % bound);
  }
  template <class... Members>
  void enqueue(warden::stream_ref s, Members... members) {
    warden::launch_fused(act{word_.data()}, grid, 32, s, all_[members].real...);
  }
  template <class... Members>
  captured capture(Members... members) {
    warden::stream_ref const s = streams_[0];
    return {warden::graph::capture(s, [&] { enqueue(s, members...); }),
            {static_cast<unsigned>(members)...}};
  }
  void launch() {
    warden::stream_ref const s = streams_[below(2)];
    s.wait_for(last_);
    auto const what = static_cast<task>(below(5) < 3 ? send : below(2) == 0 ? forget : stop);
    word_.fill_bytes(what, s);
    unsigned const choice = below(5);
    unsigned const first = below(3), second = (first + 1 + below(2)) % 3;
    switch (choice) {
      case 0:
        enqueue(s, first);
        launched(what, {first}, false);
        break;
      case 1:
        enqueue(s, first, second);
        launched(what, {first, second}, false);
        break;
      case 2:
        enqueue(s, first, second, 3 - first - second);
        launched(what, {0, 1, 2}, false);
        break;
      default:
        graphs_[choice - 3].graph.launch(s);
        launched(what, graphs_[choice - 3].members, true);
    }
    last_.record(s);
  }
  void launched(task what, std::vector<unsigned> const& members, bool replayed) {
    bool refused = false;
    for (unsigned m : members) {
      refused = refused || all_[m].unreported;
      all_[m].replayed = replayed;
    }
    for (unsigned m : members) {
      if (!refused && what == send) all_[m].count += grid * 32;
      if (all_[m].unreported) continue;
      if (refused) all_[m].unreported = warden::wait_kind::earlier;
      if (!refused && what == forget) all_[m].unreported = warden::wait_kind::message;
      if (!refused && what == stop) all_[m].unreported = warden::wait_kind::lock;
    }
  }
  void wait(unsigned g) {
    if (all_[g].replayed) last_.synchronize();
    std::optional<warden::wait_kind> seen;
    try {
      all_[g].real.wait(below(2) == 0 ? warden::stream_ref{} : warden::stream_ref{streams_[1]});
    } catch (warden::timeout_error const& e) {
      seen = e.dump().wait.kind;
    }
    if (seen.has_value() != all_[g].unreported.has_value())
      throw failure{seen ? "an unexpected failure" : "a lost failure"};
    if (seen != all_[g].unreported) throw failure{"a wrong cause"};
    all_[g].unreported.reset();
  }

  std::uint64_t random_;
  warden::stream streams_[2];
  warden::event last_;
  warden::buffer<task> word_{1};
  guarded_and_model all_[3];
  std::vector<captured> graphs_;
};

}  // namespace

int main(int argc, char** argv) {
  return scenario::run(
      argc, argv,
      {{"shared", [] { shared_launches{warden::sim::current_settings().seed}.run(); }}});
}

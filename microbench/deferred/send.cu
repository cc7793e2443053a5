// SPDX-License-Identifier: Apache-2.0
// Points that measure sending, and points that measure the memory of a log.

#include "microbench/deferred/lone_lanes.cuh"
#include "microbench/deferred/points.hpp"
#include "microbench/deferred/sections.cuh"
#include "microbench/support/timed_point.hpp"
#include "microbench/support/workload.cuh"

#include <warden/stream.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>

namespace deferred_bench {
namespace {

/// Records, ids, and a log with room for all sections that are sent.
template <class Section>
class sections {
 public:
  sections(std::uint32_t operations, std::uint32_t keys)
      : workload_{bench::workload::uniform(keys)},
        records_{keys},
        ids_{operations},
        oracle_{keys},
        table_{records_} {}

  /// Sends n sections, runs them, and checks that each ran once. Only the kernel is timed.
  template <template <class, class> class Sender>
  bench::run_result send(std::uint32_t n, std::uint64_t seed) {
    sender_of<Sender, Section> const sender{};
    workload_.draw(ids_.data(), n, seed);
    records_.fill_bytes(0);
    deferred_log<Section>& to = log_of(n);
    warden::timer clock;
    clock.start();
    sender.send_async({to.ref(), ids_.data(), n});
    clock.stop();
    bench::run_result result;
    result.cost = clock.result();
    to.run();
    table_.wait();
    result.verified = oracle_.holds<Section>(records_, ids_.data(), n);
    return result;
  }
  deferred_log<Section>& log_of(std::uint32_t n) {
    if (!log_ || log_->capacity() != n) {
      log_.reset();
      log_.emplace(table_, n);
    }
    return *log_;
  }

 private:
  bench::workload workload_;
  warden::buffer<record> records_;
  warden::buffer<std::uint32_t> ids_;
  oracle oracle_;
  table<Section> table_;
  std::optional<deferred_log<Section>> log_;
};

/// Calls `f.template operator()<Sender>()` with the sender of an arm.
template <class F>
auto with_sender_of(std::string const& arm, F f) {
  if (arm == "block") return f.template operator()<bench::block_sender>();
  if (arm == "thread") return f.template operator()<bench::thread_sender>();
  return f.template operator()<lone_lane_sender>();
}

template <class Section>
class send_point final : public bench::timed_point {
 public:
  explicit send_point(std::uint32_t keys) : keys_{keys} {}
  [[nodiscard]] bool has(std::string const& arm) const override {
    return std::find(senders.begin(), senders.end(), arm) != senders.end();
  }
  [[nodiscard]] std::string name(std::string const& arm) const override {
    return "send/" + arm + "/bytes:" + std::to_string(Section::message_bytes);
  }

 private:
  void set_up(std::uint32_t operations) override { sections_.emplace(operations, keys_); }
  bench::run_result run(std::string const& arm, std::uint32_t n, std::uint64_t seed) override {
    return with_sender_of(arm, [&]<template <class, class> class Sender>() {
      return sections_->template send<Sender>(n, seed);
    });
  }
  void finish(std::string const& arm, bench::row& r) override {
    if (warden::runtime::facts(warden::runtime::current_device()).simulated) {
      // The simulated device does not count the accesses that write messages.
      r.counters.erase("sectors");
      return;
    }
    with_sender_of(arm, [&]<template <class, class> class Sender>() {
      namespace runtime = warden::runtime;
      using sender = sender_of<Sender, Section>;
      auto const kernel = sender::kernel();
      int const blocks =
          runtime::blocks_per_multiprocessor(kernel, sender::threads, sender::shared_bytes);
      r.counters["registers"] = runtime::registers(kernel);
      r.counters["local_bytes"] = static_cast<double>(runtime::local_bytes(kernel));
      r.counters["shared_bytes"] = sender::storage_bytes;
      r.counters["block_threads"] = sender::threads;
      r.counters["multiprocessor_threads"] = static_cast<double>(blocks * sender::threads);
    });
  }
  void tear_down() override { sections_.reset(); }

  std::uint32_t keys_;
  std::optional<sections<Section>> sections_;
};

template <class Section>
class memory_point final : public bench::point {
 public:
  explicit memory_point(std::uint32_t keys) : keys_{keys} {}
  [[nodiscard]] bool has(std::string const& arm) const override { return arm == "block"; }
  [[nodiscard]] std::string name(std::string const& arm) const override {
    return "memory/" + arm + "/bytes:" + std::to_string(Section::message_bytes);
  }

 private:
  std::map<std::string, bench::row> measure_all(bench::sweep const& s) override {
    bool const simulated = warden::runtime::facts(warden::runtime::current_device()).simulated;
    std::uint32_t const n = s.operations != 0 ? s.operations : simulated ? 1u << 12 : 1u << 26;
    sections<Section> all{n, keys_};
    bench::row r;
    r.verified = all.template send<bench::block_sender>(n, 1).verified;
    r.counters["sections"] = n;
    r.counters["memory_bytes"] = static_cast<double>(all.log_of(n).memory_bytes());
    return {{"block", r}};
  }

  std::uint32_t keys_;
};

template <template <class> class Point>
std::shared_ptr<bench::point> make_point(unsigned bytes, std::uint32_t keys) {
  switch (bytes) {
    case count_one::message_bytes:
      return std::make_shared<Point<count_one>>(keys);
    case add_value::message_bytes:
      return std::make_shared<Point<add_value>>(keys);
    default:
      throw std::logic_error{"no messages of " + std::to_string(bytes) + " bytes"};
  }
}

}  // namespace

std::shared_ptr<bench::point> make_send_point(unsigned bytes, std::uint32_t keys) {
  return make_point<send_point>(bytes, keys);
}
std::shared_ptr<bench::point> make_memory_point(unsigned bytes, std::uint32_t keys) {
  return make_point<memory_point>(bytes, keys);
}

}  // namespace deferred_bench

// SPDX-License-Identifier: Apache-2.0
// The communicator of one rank.

#include <warden/communicator.hpp>
#include <warden/runtime.hpp>

WARDEN_HOST_NAMESPACE_BEGIN

namespace {

/// Transport of a communicator with one rank: it receives its own messages.
class alone_transport final : public runtime::transport {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  void all_gather(void const* own, void* all, std::size_t bytes, stream_ref s,
                  std::source_location where) override {
    runtime::copy_async(all, own, bytes, s, where);
  }
  void exchange(std::span<runtime::outgoing const> sent,
                std::span<runtime::incoming const> received, stream_ref s,
                std::source_location where) override {
    for (std::size_t i = 0; i < sent.size() && i < received.size(); ++i)
      runtime::copy_async(received[i].data, sent[i].data, sent[i].bytes, s, where);
  }
  void wait(stream_ref s, std::source_location where) override { s.synchronize(where); }
};

}  // namespace

communicator communicator::alone() { return communicator{std::make_shared<alone_transport>()}; }

WARDEN_HOST_NAMESPACE_END

// SPDX-License-Identifier: Apache-2.0
// Arm of the executor `locks`.

#include "microbench/record_size/warden_arm.cuh"

namespace record_size {

template <unsigned Bytes>
std::unique_ptr<arm> make_warden_locks(record<Bytes>* records, std::uint32_t keys) {
  return std::make_unique<warden_arm<Bytes, warden::executor::locks<>>>(records, keys);
}
template std::unique_ptr<arm> make_warden_locks(record<8>*, std::uint32_t);
template std::unique_ptr<arm> make_warden_locks(record<32>*, std::uint32_t);
template std::unique_ptr<arm> make_warden_locks(record<128>*, std::uint32_t);
template std::unique_ptr<arm> make_warden_locks(record<1024>*, std::uint32_t);

}  // namespace record_size

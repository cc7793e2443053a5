// SPDX-License-Identifier: Apache-2.0
// CUDA's names for the device that this translation unit is compiled for. See
// warden/cuda_names.cuh.
#pragma once

#include <warden/simt/compiler.hpp>

#if defined(WARDEN_GPU)

#  include <type_traits>

#  define WARDEN_SHARED(type, name) __shared__ ::std::type_identity_t<type> name
#  define WARDEN_DYNAMIC_SHARED(type, name)                          \
    extern __shared__ __align__(128) unsigned char warden_dynamic[]; \
    type* const name = reinterpret_cast<type*>(warden_dynamic)

#else

#  include <warden/simt/simulated_arithmetic.cuh>
#  include <warden/simt/simulated_atomics.cuh>
#  include <warden/simt/simulated_indices.cuh>
#  include <warden/simt/simulated_scopes.cuh>
#  include <warden/simt/simulated_vectors.cuh>
#  include <warden/simt/simulated_warp.cuh>

#  include <source_location>
#  include <type_traits>

#  define WARDEN_SHARED(type, name)                                                              \
    static constexpr char warden_key_of_##name{};                                                \
    [[maybe_unused]] auto& name = *static_cast<::std::type_identity_t<type>*>(                   \
        ::warden::sim::device::static_shared(&warden_key_of_##name, sizeof(type), alignof(type), \
                                             ::std::source_location::current()))
#  define WARDEN_DYNAMIC_SHARED(type, name) \
    type* const name = reinterpret_cast<type*>(::warden::sim::device::dynamic_shared())

using namespace ::warden::cuda_names;

#endif

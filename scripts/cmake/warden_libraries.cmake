# SPDX-License-Identifier: Apache-2.0
# The libraries: warden::sim with Boost, warden::cuda with nvcc, warden::nccl with NCCL, and
# warden::warden, which is warden::cuda if there is one and warden::sim otherwise.
find_program(warden_ccache ccache)
if(warden_ccache AND PROJECT_IS_TOP_LEVEL)
  # Options that ccache needs for precompiled headers.
  set(warden_by_ccache ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${warden_by_ccache} ${warden_ccache})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${warden_ccache})
endif()

file(GLOB warden_host_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/runtime/*.cpp)
file(GLOB warden_sim_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/runtime/sim/*.cpp)
file(GLOB warden_check_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/runtime/check/*.cpp)
file(GLOB warden_nccl_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/runtime/nccl/*.cpp
     ${PROJECT_SOURCE_DIR}/runtime/nccl/*.cu)
file(GLOB warden_cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/runtime/cuda/*.cpp
     ${PROJECT_SOURCE_DIR}/runtime/cuda/*.cu)

function(warden_library name)
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  target_compile_features(${name} PUBLIC cxx_std_20)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()

if(WARDEN_WITH_SIM)
  add_library(warden_sim STATIC ${warden_host_sources} ${warden_sim_sources})
  add_library(warden::sim ALIAS warden_sim)
  warden_library(warden_sim)
  target_compile_definitions(warden_sim PUBLIC WARDEN_SIMULATED=1)
  target_link_libraries(warden_sim PUBLIC Boost::context PRIVATE ${warden_libbacktrace})
  target_compile_definitions(warden_sim PRIVATE ${warden_libbacktrace_definition})
  set_target_properties(warden_sim PROPERTIES EXPORT_NAME sim)
  # The simulated device with a check of every plain access: see docs/race-detector.md. g++ compiles
  # calls of hooks, which warden_sim has; the sanitizer's own library is not linked. g++ warns of
  # fences, which that library does not support.
  set(warden_race_flags -fsanitize=thread --param=tsan-distinguish-volatile=1 -Wno-tsan -g)
  add_library(warden_race_detector INTERFACE)
  add_library(warden::race_detector ALIAS warden_race_detector)
  target_compile_options(warden_race_detector INTERFACE ${warden_race_flags})
  target_link_libraries(warden_race_detector INTERFACE warden_sim)
  set_target_properties(warden_race_detector PROPERTIES EXPORT_NAME race_detector)

  # CUDA's runtime API, for programs that runtime/check/race_check.py compiles, and the options to compile
  # and link them. All of it is linked: a program that does not call CUDA's runtime is checked, too.
  add_library(warden_check STATIC ${warden_check_sources})
  target_link_libraries(warden_check PUBLIC warden_sim)
  set(warden_check_linked -Wl,--whole-archive $<TARGET_FILE:warden_check> -Wl,--no-whole-archive $<TARGET_FILE:warden_sim> $<TARGET_FILE:Boost::context>)
  list(TRANSFORM warden_libbacktrace PREPEND "-l" OUTPUT_VARIABLE warden_l_backtrace)
  list(APPEND warden_check_linked ${warden_l_backtrace})
  foreach(what IN ITEMS race_flags check_linked)
    list(JOIN warden_${what} "\n" warden_lines)
    file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/warden_${what}.txt CONTENT "${warden_lines}\n")
  endforeach()
endif()

if(WARDEN_WITH_CUDA)
  add_library(warden_cuda STATIC ${warden_host_sources} ${warden_cuda_sources})
  add_library(warden::cuda ALIAS warden_cuda)
  warden_library(warden_cuda)
  target_link_libraries(warden_cuda PUBLIC CUDA::cudart_static)
  # This CMake refuses CUDA_STANDARD 20, and cxx_std_20 does not reach nvcc.
  target_compile_options(warden_cuda PUBLIC $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>)
  # Users write functions of send_async as __device__ lambdas.
  target_compile_options(warden_cuda PUBLIC $<$<COMPILE_LANGUAGE:CUDA>:--extended-lambda>)
  # Conditional nodes of graphs need CUDA's device library, which relocatable device code is linked
  # with. The kernels of a sort are slower as such code. PTX alone cannot be linked.
  if(CUDAToolkit_VERSION VERSION_GREATER_EQUAL 12.4 AND NOT WARDEN_FAST_COMPILE)
    set_source_files_properties(runtime/cuda/gated_sort.cu PROPERTIES COMPILE_OPTIONS -rdc=true)
    set_target_properties(warden_cuda PROPERTIES CUDA_RESOLVE_DEVICE_SYMBOLS ON)
  endif()
  set_target_properties(warden_cuda PROPERTIES EXPORT_NAME cuda)
  add_library(warden_default INTERFACE)
  target_link_libraries(warden_default INTERFACE warden_cuda)
else()
  add_library(warden_default INTERFACE)
  target_link_libraries(warden_default INTERFACE warden_sim)
endif()
add_library(warden::warden ALIAS warden_default)
set_target_properties(warden_default PROPERTIES EXPORT_NAME warden)

if(WARDEN_WITH_NCCL)
  add_library(warden_nccl STATIC ${warden_nccl_sources})
  add_library(warden::nccl ALIAS warden_nccl)
  warden_library(warden_nccl)
  target_link_libraries(warden_nccl PUBLIC warden_cuda NCCL::nccl)
  set_target_properties(warden_nccl PROPERTIES EXPORT_NAME nccl)
endif()

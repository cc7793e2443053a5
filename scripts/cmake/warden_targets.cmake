# SPDX-License-Identifier: Apache-2.0
# Programs and tests of this project: one list of .cu sources, built for the GPU and for the simulated
# device.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

# nvcc's -O is for host code alone. Optimizing the host code takes as long as compiling the kernels,
# and its speed does not matter here.
set(warden_cuda_options -lineinfo)
set(warden_host_optimization -O1)
set(warden_gpu_architectures ${CMAKE_CUDA_ARCHITECTURES})
if(WARDEN_WITH_CUDA AND WARDEN_FAST_COMPILE)
  # These programs are not run. Host code is not optimized, kernels are hardly optimized and compiled
  # to PTX only, which takes half the time. Programs of tests are not even linked; see
  # warden_only_compile.
  include(CheckCompilerFlag)
  check_compiler_flag(CUDA --Ofast-compile=max WARDEN_HAS_OFAST_COMPILE)
  set(warden_cuda_options $<$<BOOL:${WARDEN_HAS_OFAST_COMPILE}>:--Ofast-compile=max>)
  set(warden_host_optimization -O0)
  list(TRANSFORM CMAKE_CUDA_ARCHITECTURES REPLACE "^([0-9]+[af]?)$" "\\1-virtual")
endif()
string(REPLACE "-O3" "${warden_host_optimization}" CMAKE_CUDA_FLAGS_RELEASE "${CMAKE_CUDA_FLAGS_RELEASE}")

add_library(warden_warnings INTERFACE)
target_compile_options(warden_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra>
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra;${warden_cuda_options}>"
  # Names in messages are relative: the build's folder is of no use to the reader.
  $<$<COMPILE_LANGUAGE:CXX>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>)
if(WARDEN_WERROR)
  target_compile_options(warden_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Werror> $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings -Xcompiler=-Werror>)
endif()
# Programs also run on other machines: libraries that a plain Linux lacks are linked statically.
target_link_options(warden_warnings INTERFACE -static-libstdc++ -static-libgcc)
if(WARDEN_WITH_SIM)
  target_link_libraries(warden_sim PRIVATE $<BUILD_INTERFACE:warden_warnings>)
  target_link_libraries(warden_check PRIVATE $<BUILD_INTERFACE:warden_warnings>)
endif()
if(WARDEN_WITH_CUDA)
  target_link_libraries(warden_cuda PRIVATE $<BUILD_INTERFACE:warden_warnings>)
endif()
if(WARDEN_WITH_NCCL)
  target_link_libraries(warden_nccl PRIVATE $<BUILD_INTERFACE:warden_warnings>)
endif()

# The g++ side of a .cu file: a .cpp that includes it.
function(warden_host_wrappers out)
  set(wrappers "")
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE absolute)
    set(base ${PROJECT_SOURCE_DIR})
    cmake_path(IS_PREFIX PROJECT_BINARY_DIR ${absolute} generated)
    if(generated)
      set(base ${PROJECT_BINARY_DIR})
    endif()
    cmake_path(RELATIVE_PATH absolute BASE_DIRECTORY ${base} OUTPUT_VARIABLE relative)
    set(wrapper ${PROJECT_BINARY_DIR}/simulated/${relative}.cpp)
    file(CONFIGURE OUTPUT ${wrapper} CONTENT "#include \"${absolute}\"\n")
    list(APPEND wrappers ${wrapper})
  endforeach()
  set(${out} ${wrappers} PARENT_SCOPE)
endfunction()

# Targets that ./warden test builds; target all builds the rest.
add_custom_target(warden_simulated_tests)  # programs of all tests on the simulated device, and of a few mutants
add_custom_target(warden_templates)        # on the simulated device
add_custom_target(warden_gpu_tests)

function(warden_simulated_options target)
  # Programs spend their time in the simulated device, which is optimized. The rest is many kernels
  # that each run a few times: optimizing them takes longer than it saves.
  target_compile_options(${target} PRIVATE -Og)
endfunction()

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_PCH_PROLOGUE "")  # not "#pragma GCC system_header": the warnings of precompiled headers count
endif()
# warden_precompile(<target> HEADERS...): <target> precompiles the headers. Targets compiled with
# the same options may use them by warden_reuse_headers(<other> <target>). Only g++ gains by it.
function(warden_precompile target)
  if(PROJECT_IS_TOP_LEVEL AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND TARGET ${target})
    target_precompile_headers(${target} PRIVATE ${ARGN})
    target_compile_options(${target} PRIVATE -fpch-preprocess)
    if(warden_ccache)
      # ccache compares the contents of files here. The preprocessed text lacks macros and comments,
      # but headers are precompiled with their macros, and g++ includes a header again that differs
      # in any byte from the precompiled one.
      set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER
                            "${warden_by_ccache};CCACHE_DEPEND=1;CCACHE_NAMESPACE=precompiled;${warden_ccache}")
    endif()
  endif()
endfunction()
function(warden_reuse_headers other target)
  if(PROJECT_IS_TOP_LEVEL AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND TARGET ${other})
    target_precompile_headers(${other} REUSE_FROM ${target})
    target_compile_options(${other} PRIVATE -fpch-preprocess)
  endif()
endfunction()

# Headers that nearly every program includes.
set(warden_usual_headers <warden/deferred.cuh> <warden/fused.cuh> <algorithm> <numeric> <string> <vector>)
if(WARDEN_WITH_SIM)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/simulated/usual_headers.cpp CONTENT "")
  add_library(usual_headers_sim OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/simulated/usual_headers.cpp)
  target_link_libraries(usual_headers_sim PRIVATE warden::sim warden_warnings)
  warden_simulated_options(usual_headers_sim)
  warden_precompile(usual_headers_sim ${warden_usual_headers})
endif()

# warden_add_objects(<name> SOURCES a.cu ... [SIM_SOURCES ...] [GPU_SOURCES ...] [LIBRARIES ...]
# [PRECOMPILED ...] [UNITED] [UNITED_IF_FAST]): objects that several programs take as OBJECTS,
# compiled once for each device. They precompile the headers PRECOMPILED, if any.
# UNITED: the .cu files of SOURCES are compiled as one; see warden_unite.
# UNITED_IF_FAST: so are those for the GPU with WARDEN_FAST_COMPILE.
function(warden_add_objects name)
  cmake_parse_arguments(arg "UNITED;UNITED_IF_FAST" "" "SOURCES;SIM_SOURCES;GPU_SOURCES;LIBRARIES;PRECOMPILED" ${ARGN})
  if(arg_UNITED)
    warden_unite(arg_SOURCES ${name}_objects ${arg_SOURCES})
  endif()
  if(WARDEN_WITH_SIM)
    warden_host_wrappers(wrappers ${arg_SOURCES} ${arg_SIM_SOURCES})
    add_library(${name}_objects_sim OBJECT EXCLUDE_FROM_ALL ${wrappers})
    target_link_libraries(${name}_objects_sim PRIVATE warden::sim warden_warnings ${arg_LIBRARIES})
    target_include_directories(${name}_objects_sim PRIVATE ${PROJECT_SOURCE_DIR})
    warden_simulated_options(${name}_objects_sim)
    if(arg_PRECOMPILED)
      warden_precompile(${name}_objects_sim ${arg_PRECOMPILED})
    else()
      warden_reuse_headers(${name}_objects_sim usual_headers_sim)
    endif()
  endif()
  if(WARDEN_WITH_CUDA)
    if(arg_UNITED_IF_FAST AND WARDEN_FAST_COMPILE)
      warden_unite(arg_SOURCES ${name}_objects ${arg_SOURCES})
    endif()
    add_library(${name}_objects OBJECT EXCLUDE_FROM_ALL ${arg_SOURCES} ${arg_GPU_SOURCES})
    target_link_libraries(${name}_objects PRIVATE warden::cuda warden_warnings ${arg_LIBRARIES})
    target_include_directories(${name}_objects PRIVATE ${PROJECT_SOURCE_DIR})
  endif()
endfunction()

# warden_add_program(<name> SOURCES a.cu ... [OBJECTS ...] [LIBRARIES ...] [SIM_ONLY] [GPU_ONLY]
# [UNITED] [UNITED_IF_FAST] [HEADERS_OF <target>]): <name>_sim, and <name> with CUDA. <name>_sim uses
# the headers that <target> precompiles. UNITED, UNITED_IF_FAST: see warden_add_objects.
function(warden_add_program name)
  cmake_parse_arguments(arg "SIM_ONLY;GPU_ONLY;UNITED;UNITED_IF_FAST" "HEADERS_OF" "SOURCES;OBJECTS;LIBRARIES" ${ARGN})
  if(arg_UNITED)
    warden_unite(arg_SOURCES ${name} ${arg_SOURCES})
  endif()
  if(NOT arg_HEADERS_OF)
    set(arg_HEADERS_OF usual_headers_sim)
  endif()
  list(TRANSFORM arg_OBJECTS APPEND _objects)
  if(WARDEN_WITH_SIM AND NOT arg_GPU_ONLY)
    warden_host_wrappers(wrappers ${arg_SOURCES})
    add_executable(${name}_sim ${wrappers})
    set_target_properties(${name}_sim PROPERTIES LINKER_LANGUAGE CXX)  # also if it is made of objects alone
    list(TRANSFORM arg_OBJECTS APPEND _sim OUTPUT_VARIABLE objects_sim)
    target_link_libraries(${name}_sim PRIVATE ${objects_sim} warden::sim warden_warnings ${arg_LIBRARIES})
    target_include_directories(${name}_sim PRIVATE ${PROJECT_SOURCE_DIR})
    warden_simulated_options(${name}_sim)
    warden_reuse_headers(${name}_sim ${arg_HEADERS_OF})
  endif()
  if(WARDEN_WITH_CUDA AND NOT arg_SIM_ONLY)
    if(arg_UNITED_IF_FAST AND WARDEN_FAST_COMPILE)
      warden_unite(arg_SOURCES ${name} ${arg_SOURCES})
    endif()
    add_executable(${name} ${arg_SOURCES})
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
    target_link_libraries(${name} PRIVATE ${arg_OBJECTS} warden::cuda warden_warnings ${arg_LIBRARIES})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  endif()
endfunction()

# Marks a test that only ./warden test --all runs.
function(warden_test_remains)
  set_tests_properties(${ARGN} PROPERTIES LABELS remaining)
endfunction()

# warden_add_on_profiles(<name> <program> [PROPERTY value ...]): the tests
# profiles.<profile>.<name>, which run <program> on a simulated device of each compute capability,
# with 5 seeds at most. ./warden test runs those of 7.5, the device with the least shared memory.
# Each limit of another profile is that of one of these profiles, or of the default device, on which
# sim.<name> runs. tests/sim/profiles.cu compares them.
function(warden_add_on_profiles name program)
  foreach(profile IN ITEMS 7.5 8.0 12.0)
    set(test profiles.${profile}.${name})
    add_test(NAME ${test} COMMAND ${program})
    set_tests_properties(${test} PROPERTIES ${ARGN})
    set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT WARDEN_SIM_PROFILE=${profile} WARDEN_SEEDS=5)
    if(NOT profile STREQUAL "7.5")
      warden_test_remains(${test})
    endif()
  endforeach()
endfunction()

# warden_add_race_test(<name> SOURCES a.cu ... [LIBRARIES ...] [DEFINITION d] [OUTPUT o] [UNITED]): the
# test races.<name>, compiled for the race detector: a GoogleTest program, or another program that
# must print OUTPUT. It tries 3 seeds at most. Only ./warden test --all runs it.
# UNITED: the sources are compiled as one; see warden_unite. Without it those of a GoogleTest program
# are, too; see warden_unite_apart.
function(warden_add_race_test name)
  cmake_parse_arguments(arg "UNITED" "DEFINITION;OUTPUT" "SOURCES;LIBRARIES" ${ARGN})
  if(arg_UNITED)
    warden_unite(arg_SOURCES races_of_${name} ${arg_SOURCES})
  elseif(NOT arg_OUTPUT)
    warden_unite_apart(arg_SOURCES races_of_${name} ${arg_SOURCES})
  endif()
  warden_host_wrappers(wrappers ${arg_SOURCES})
  add_executable(races_of_${name} ${wrappers})
  if(arg_DEFINITION)
    target_compile_definitions(races_of_${name} PRIVATE ${arg_DEFINITION})
  endif()
  target_include_directories(races_of_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  warden_simulated_options(races_of_${name})
  # The options of warden::race_detector, with only as much debug information as places need.
  target_compile_options(races_of_${name} PRIVATE ${warden_race_flags} -g1)
  target_link_libraries(races_of_${name} PRIVATE warden::sim warden_warnings ${arg_LIBRARIES})
  add_test(NAME races.${name} COMMAND races_of_${name})
  set_tests_properties(races.${name} PROPERTIES TIMEOUT 600 ENVIRONMENT WARDEN_SEEDS=3)
  warden_test_remains(races.${name})
  if(arg_OUTPUT)
    set_tests_properties(races.${name} PROPERTIES PASS_REGULAR_EXPRESSION "${arg_OUTPUT}")
  else()
    target_link_libraries(races_of_${name} PRIVATE test_main_objects_sim GTest::gmock GTest::gtest)
  endif()
endfunction()

# warden_add_gpu_run(<name> <program> <output>): the test gpu.<name> of a user's program, which must
# print <output>. The program has no exit code for "no GPU": CUDA's text for it skips the test. Run
# by cmake, which turns an abort into an exit.
function(warden_add_gpu_run name program output)
  add_test(NAME gpu.${name} COMMAND ${CMAKE_COMMAND} -E env ${program})
  set_tests_properties(gpu.${name} PROPERTIES PASS_REGULAR_EXPRESSION "${output}" TIMEOUT 120 RESOURCE_LOCK gpu
    SKIP_REGULAR_EXPRESSION "no CUDA-capable device is detected;CUDA driver version is insufficient")
endfunction()

# warden_add_test(<name> SOURCES a.cu ... [SHARDS n] [OBJECTS ...] [LIBRARIES ...] [SIM_ONLY]
# [GPU_ONLY] [UNITED] [EXECUTORS e ...] [COST s] [MORE_SEEDS] [PROFILES] [REMAINS] [ASSEMBLED]
# [COMPILE_FIRST]): a GoogleTest program on both devices, registered as sim.<name>.<shard> and
# gpu.<name>. Without a GPU the latter is skipped.
# ASSEMBLED: with WARDEN_FAST_COMPILE, too, the program for the GPU is made, of machine code.
# COMPILE_FIRST: with WARDEN_FAST_COMPILE only the first source is compiled for the GPU.
# EXECUTORS: one program <name>_<e> for each, whose small policies use that executor. Those after the
# first are REMAINS and COMPILE_FIRST: the sources differ from those of the first in the executor.
# COST: seconds that it takes, about, so that long tests begin first.
# MORE_SEEDS: more_seeds.<name>.<shard> tries up to 250 schedules, without those of
# sim.<name>.<shard>.
# PROFILES: see warden_add_on_profiles.
# UNITED: see warden_add_objects.
# REMAINS: only ./warden test --all builds and runs it on the simulated device.
function(warden_add_test name)
  cmake_parse_arguments(arg "SIM_ONLY;GPU_ONLY;UNITED;MORE_SEEDS;PROFILES;REMAINS;ASSEMBLED;COMPILE_FIRST" "SHARDS;TIMEOUT;DEFINITION;COST" "SOURCES;OBJECTS;LIBRARIES;EXECUTORS"
                        ${ARGN})
  if(arg_EXECUTORS)
    list(FIND ARGN EXECUTORS begin)
    list(SUBLIST ARGN 0 ${begin} others)
    set(remains)
    foreach(executor IN LISTS arg_EXECUTORS)
      warden_add_test(${name}_${executor} ${others} DEFINITION TEST_EXECUTOR=${executor} ${remains})
      set(remains REMAINS COMPILE_FIRST)
    endforeach()
    return()
  endif()
  foreach(default IN ITEMS "SHARDS 1" "TIMEOUT 600" "COST 0")
    string(REPLACE " " ";" default "${default}")
    list(POP_FRONT default option)
    if(NOT arg_${option})
      set(arg_${option} ${default})
    endif()
  endforeach()
  if(WARDEN_WITH_CUDA AND WARDEN_FAST_COMPILE AND NOT (arg_SIM_ONLY OR arg_GPU_ONLY OR arg_ASSEMBLED))
    set(compiled ${arg_SOURCES})
    if(arg_COMPILE_FIRST)
      list(SUBLIST arg_SOURCES 0 1 compiled)
    endif()
    warden_only_compile(SOURCES ${compiled} OBJECTS test_main ${arg_OBJECTS}
                        LIBRARIES GTest::gmock GTest::gtest ${arg_LIBRARIES} DEFINITION ${arg_DEFINITION})
    set(arg_SIM_ONLY ON)
  endif()
  set(only)
  if(arg_SIM_ONLY)
    set(only SIM_ONLY)
  elseif(arg_GPU_ONLY)
    set(only GPU_ONLY)
  endif()
  if(arg_UNITED)
    list(APPEND only UNITED)
  endif()
  warden_add_program(test_${name} ${only} HEADERS_OF test_main_objects_sim SOURCES ${arg_SOURCES} OBJECTS test_main ${arg_OBJECTS}
                     LIBRARIES GTest::gmock GTest::gtest ${arg_LIBRARIES})
  foreach(program IN ITEMS test_${name} test_${name}_sim)
    if(arg_DEFINITION AND TARGET ${program})
      target_compile_definitions(${program} PRIVATE ${arg_DEFINITION})
    endif()
  endforeach()
  if(TARGET test_${name}_sim)
    if(NOT arg_REMAINS)
      add_dependencies(warden_simulated_tests test_${name}_sim)
    endif()
    math(EXPR last "${arg_SHARDS} - 1")
    foreach(shard RANGE ${last})
      set(test sim.${name}.${shard})
      set(part "GTEST_TOTAL_SHARDS=${arg_SHARDS};GTEST_SHARD_INDEX=${shard}")
      add_test(NAME ${test} COMMAND test_${name}_sim)
      set_tests_properties(${test} PROPERTIES TIMEOUT ${arg_TIMEOUT} COST ${arg_COST} ENVIRONMENT "${part}")
      if(arg_REMAINS)
        warden_test_remains(${test})
      endif()
      if(arg_MORE_SEEDS)
        set(test more_seeds.${name}.${shard})
        add_test(NAME ${test} COMMAND test_${name}_sim)
        set_tests_properties(${test} PROPERTIES TIMEOUT ${arg_TIMEOUT} COST ${arg_COST} ENVIRONMENT "${part};WARDEN_MORE_SEEDS=250")
        warden_test_remains(${test})
      endif()
    endforeach()
    if(arg_PROFILES)
      warden_add_on_profiles(${name} test_${name}_sim TIMEOUT ${arg_TIMEOUT} COST ${arg_COST})
      if(arg_REMAINS)
        warden_test_remains(profiles.7.5.${name})
      endif()
    endif()
  endif()
  if(TARGET test_${name})
    if(arg_ASSEMBLED)
      set_target_properties(test_${name} PROPERTIES CUDA_ARCHITECTURES "${warden_gpu_architectures}")
    endif()
    add_dependencies(warden_gpu_tests test_${name})
    add_test(NAME gpu.${name} COMMAND test_${name})
    set_tests_properties(gpu.${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} SKIP_RETURN_CODE 77 RESOURCE_LOCK gpu)
  endif()
endfunction()

# SPDX-License-Identifier: Apache-2.0
# Installs Warden for CUDA alone, without Boost and NCCL, and compiles README's examples without
# CMake.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGV}\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${build})
set(prefix ${build}/prefix)
set(options -G ${generator} -DCMAKE_BUILD_TYPE=Release -DCMAKE_DISABLE_FIND_PACKAGE_Boost=TRUE)
# With the options of the test build, so that ccache has compiled the library already.
run(${CMAKE_COMMAND} -S ${source} -B ${build}/warden ${options} -DWARDEN_WERROR=ON -DCMAKE_CUDA_COMPILER=${nvcc} -DCMAKE_CUDA_ARCHITECTURES=${architecture}
    -DWARDEN_CUDA=ON -DWARDEN_NCCL=OFF -DWARDEN_SIMULATED_DEVICE=OFF -DWARDEN_BUILD_TESTS=OFF -DWARDEN_BUILD_BENCHMARKS=OFF
    -DWARDEN_BUILD_EXAMPLES=OFF -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_PREFIX=${prefix})
run(${CMAKE_COMMAND} --build ${build}/warden --target install)
file(GLOB libraries RELATIVE ${prefix}/lib ${prefix}/lib/*.*)
if(NOT libraries STREQUAL "libwarden_cuda.a")
  message(FATAL_ERROR "installed for CUDA alone: ${libraries}")
endif()

# As in docs/installing.md.
file(COPY_FILE ${program} ${build}/file.cu)
run(${nvcc} -std=c++20 --extended-lambda -arch=sm_${architecture} ${build}/file.cu -I ${prefix}/include -L ${prefix}/lib -lwarden_cuda -o ${build}/file)
run(${nvcc} -std=c++20 -arch=sm_${architecture} ${deferred_program} -I ${prefix}/include -L ${prefix}/lib -lwarden_cuda
    -o ${build}/deferred)

# The library without CMake, by the command that docs/installing.md prints.
file(READ ${source}/docs/installing.md page)
if(NOT page MATCHES "\n    (nvcc [^\n]* -lib [^\n]*\\\\\n[^\n]*libwarden_cuda[.]a)")
  message(FATAL_ERROR "docs/installing.md prints no command that makes libwarden_cuda.a")
endif()
string(REGEX REPLACE "^nvcc" "'${nvcc}'" command "${CMAKE_MATCH_1}")
string(REPLACE "sm_90" "sm_${architecture}" command "${command}")
string(REPLACE "PREFIX" "'${build}/by_hand'" command "${command}")
file(MAKE_DIRECTORY ${build}/by_hand/lib)
run(sh -c "cd '${source}' && ${command}")
run(${nvcc} -std=c++20 -arch=sm_${architecture} ${deferred_program} -I ${source}/include -L ${build}/by_hand/lib -lwarden_cuda
    -o ${build}/by_hand/deferred)

find_program(pkg_config pkg-config)
if(pkg_config)
  run(${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${prefix}/lib/pkgconfig ${pkg_config} --cflags --libs warden)
  separate_arguments(out UNIX_COMMAND "${out}")
  list(TRANSFORM out REPLACE "${prefix}/lib/pkgconfig/../.." "${prefix}")
  if(NOT out STREQUAL "-I${prefix}/include;--extended-lambda;-L${prefix}/lib;-lwarden_cuda")
    message(FATAL_ERROR "pkg-config says ${out}")
  endif()
endif()

# find_package: CUDA without Boost, and a line about each package that is missing.
set(find ${CMAKE_COMMAND} -S ${source}/tests/packaging/consumer -B ${build}/consumer ${options} -DCMAKE_PREFIX_PATH=${prefix})
run(${find})
run(${find} -Dcomponent=cuda)
set(missing_sim "this Warden was installed without the simulated device")
set(missing_nccl "this Warden was installed without NCCL")
foreach(component IN ITEMS sim nccl)
  execute_process(COMMAND ${find} -Dcomponent=${component} RESULT_VARIABLE code OUTPUT_QUIET ERROR_VARIABLE out)
  string(REGEX REPLACE "[ \n]+" " " out "${out}")
  if(code EQUAL 0 OR NOT out MATCHES "${missing_${component}}")
    message(FATAL_ERROR "the component ${component}, which is not there: exit code ${code}, ${out}")
  endif()
endforeach()

# SPDX-License-Identifier: Apache-2.0
# Installs Warden into a folder, then configures, builds and runs a project that finds it there.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGV}\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${build})
set(options -G ${generator} -DCMAKE_BUILD_TYPE=Release)
if(cuda)
  list(APPEND options -DCMAKE_CUDA_COMPILER=${nvcc} -DCMAKE_CUDA_ARCHITECTURES=90)
endif()
# install_device(<name> <option>...): one device, into the one prefix.
function(install_device name)
  run(${CMAKE_COMMAND} -S ${source} -B ${build}/warden_${name} ${options} ${ARGN} -DWARDEN_BUILD_TESTS=OFF
      -DWARDEN_BUILD_BENCHMARKS=OFF -DWARDEN_BUILD_EXAMPLES=OFF -DCMAKE_INSTALL_LIBDIR=lib
      -DCMAKE_INSTALL_PREFIX=${build}/prefix)
  run(${CMAKE_COMMAND} --build ${build}/warden_${name} --target install)
endfunction()
if(cuda)
  install_device(cuda -DWARDEN_CUDA=ON -DWARDEN_SIMULATED_DEVICE=OFF)
endif()
install_device(sim -DWARDEN_CUDA=OFF -DWARDEN_SIMULATED_DEVICE=ON)
set(wanted "")
if(cuda)
  # Both devices are installed, one after the other.
  run(${CMAKE_COMMAND} -S ${source}/tests/packaging/consumer -B ${build}/simulated ${options} -Dcuda=OFF -Dcomponent=sim
      -Ddevice=sim -DCMAKE_PREFIX_PATH=${build}/prefix)
  run(${CMAKE_COMMAND} --build ${build}/simulated)
  run(${build}/simulated/consumer)
  if(NOT out MATCHES "balance 512")
    message(FATAL_ERROR "next to CUDA the simulated device printed: ${out}")
  endif()
  # A project that asks for CUDA needs no Boost.
  set(wanted -Dcomponent=cuda -Dnccl=${nccl} -DCMAKE_DISABLE_FIND_PACKAGE_Boost=TRUE)
endif()
run(${CMAKE_COMMAND} -S ${source}/tests/packaging/consumer -B ${build}/consumer ${options} -Dcuda=${cuda} ${wanted}
    -DCMAKE_PREFIX_PATH=${build}/prefix)
run(${CMAKE_COMMAND} --build ${build}/consumer)
if(nccl)
  run(${build}/consumer/ranks)
  if(NOT out MATCHES "refused: ")
    message(FATAL_ERROR "with a communicator that is none it printed: ${out}")
  endif()
endif()
if(NOT cuda)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${source}/tests/packaging/consumer -B ${build}/missing ${options}
    -Dcomponent=cuda -DCMAKE_PREFIX_PATH=${build}/prefix RESULT_VARIABLE code OUTPUT_QUIET ERROR_VARIABLE out)
  string(REGEX REPLACE "[ \n]+" " " out "${out}")
  if(code EQUAL 0 OR NOT out MATCHES "this Warden was installed without CUDA")
    message(FATAL_ERROR "WARDEN_CUDA=OFF, but the component cuda is there: ${out}")
  endif()
  run(${build}/consumer/consumer)
  if(NOT out MATCHES "balance 512")
    message(FATAL_ERROR "the consumer printed: ${out}")
  endif()
  # Without CMake, as in docs/installing.md.
  set(prefix ${build}/prefix)
  run(${cxx} -std=c++20 -O2 -DWARDEN_SIMULATED=1 -x c++ ${source}/tests/packaging/consumer/main.cu -x none -I ${prefix}/include
      -L ${prefix}/lib -lwarden_sim -lboost_context -lbacktrace -o ${build}/file_sim)
  run(${build}/file_sim)
  if(NOT out MATCHES "balance 512")
    message(FATAL_ERROR "compiled without CMake it printed: ${out}")
  endif()
  # For the race detector, by CMake and as docs/race-detector.md shows.
  run(${CMAKE_COMMAND} -S ${source}/tests/packaging/consumer -B ${build}/races ${options} -Dcomponent=sim -Ddevice=race_detector
      -DCMAKE_PREFIX_PATH=${prefix})
  run(${CMAKE_COMMAND} --build ${build}/races)
  run(${cxx} -std=c++20 -O1 -g -DWARDEN_SIMULATED=1 -fsanitize=thread --param=tsan-distinguish-volatile=1 -Wno-tsan
      -I ${prefix}/include -x c++ -c ${source}/tests/packaging/consumer/main.cu -o ${build}/file_races.o)
  run(${cxx} ${build}/file_races.o -L ${prefix}/lib -lwarden_sim -lboost_context -lbacktrace -o ${build}/file_races)
  foreach(program IN ITEMS races/consumer file_races)
    run(nm ${build}/${program})
    if(NOT out MATCHES "T __tsan_read4")
      message(FATAL_ERROR "${program} is not compiled for the race detector")
    endif()
    run(${build}/${program})
    if(NOT out MATCHES "balance 512")
      message(FATAL_ERROR "compiled for the race detector it printed: ${out}")
    endif()
  endforeach()
  run(ldd ${build}/consumer/consumer)
  if(out MATCHES "cuda|nvidia")
    message(FATAL_ERROR "WARDEN_CUDA=OFF, but the consumer needs: ${out}")
  endif()
endif()

# A subfolder of another project builds nothing but the library.
run(${CMAKE_COMMAND} -S ${source}/tests/packaging/consumer -B ${build}/subfolder ${options} -Dcuda=${cuda}
    -DWARDEN_CUDA=${cuda} -Dwarden_source=${source})
run(${CMAKE_COMMAND} --build ${build}/subfolder)
file(GLOB_RECURSE programs ${build}/subfolder/bin/*)
if(programs)
  message(FATAL_ERROR "add_subdirectory built ${programs}")
endif()

# SPDX-License-Identifier: Apache-2.0
# Several sources that are compiled as one unit.

# warden_unite(<out> <name> SOURCES...): one file that includes the .cu files, and the other sources.
# Headers of several files are parsed once and kernels of several files are compiled once, which
# takes 2/3 of the time.
function(warden_unite out name)
  set(files ${ARGN})
  set(others ${ARGN})
  list(FILTER files INCLUDE REGEX "[.]cu$")
  list(FILTER others EXCLUDE REGEX "[.]cu$")
  set(lines "")
  foreach(file IN LISTS files)
    cmake_path(ABSOLUTE_PATH file NORMALIZE)
    string(APPEND lines "#include \"${file}\"\n")
  endforeach()
  set(united ${PROJECT_BINARY_DIR}/united/${name}.cu)
  file(CONFIGURE OUTPUT ${united} CONTENT "${lines}")
  set(${out} ${united} ${others} PARENT_SCOPE)
endfunction()

# warden_unite_apart(<out> <name> SOURCES...): one file that includes .cu files, which may use one
# name for different things. Each is in a namespace of its own, after the headers of all files.
function(warden_unite_apart out name)
  set(includes "")
  set(lines "")
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source NORMALIZE)
    set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})  # their includes
    file(READ ${source} text)
    string(REGEX MATCHALL "\n#include [<\"][^\n>\"]+[>\"]" included "\n${text}")
    list(APPEND includes ${included})
    list(LENGTH lines number)
    list(APPEND lines "namespace file_${number} {\n#include \"${source}\"\n}  // namespace file_${number}")
  endforeach()
  list(REMOVE_DUPLICATES includes)
  list(JOIN includes "" includes)
  list(JOIN lines "\n" lines)
  set(united ${PROJECT_BINARY_DIR}/united/${name}.cu)
  file(CONFIGURE OUTPUT ${united} CONTENT "${includes}\n${lines}\n")
  set(${out} ${united} PARENT_SCOPE)
endfunction()

# warden_only_compile(SOURCES a.cu ... [OBJECTS ...] [LIBRARIES ...] [DEFINITION d]):
# warden_add_compiled_units compiles the sources for the GPU, with others of the same definition.
function(warden_only_compile)
  cmake_parse_arguments(arg "" "DEFINITION" "SOURCES;OBJECTS;LIBRARIES" ${ARGN})
  list(FILTER arg_SOURCES INCLUDE REGEX "[.]cu$")
  list(FILTER arg_SOURCES EXCLUDE REGEX "^[.][.]/")  # other programs have them, too
  list(TRANSFORM arg_OBJECTS APPEND _objects)
  string(MAKE_C_IDENTIFIER "units_${arg_DEFINITION}" units)
  set_property(GLOBAL APPEND PROPERTY warden_units ${units})
  foreach(source IN LISTS arg_SOURCES)
    cmake_path(ABSOLUTE_PATH source)
    set_property(GLOBAL APPEND PROPERTY ${units}_sources ${source})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY ${units}_libraries ${arg_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY ${units}_objects ${arg_OBJECTS})
  set_property(GLOBAL PROPERTY ${units}_definition ${arg_DEFINITION})
endfunction()
# warden_add_compiled_units(): the target gpu_<units> for all sources of each definition. Six files
# are one unit, which takes 2/5 of the time.
function(warden_add_compiled_units)
  get_property(all GLOBAL PROPERTY warden_units)
  list(REMOVE_DUPLICATES all)
  foreach(units IN LISTS all)
    foreach(part IN ITEMS sources libraries objects definition)
      get_property(${part} GLOBAL PROPERTY ${units}_${part})
      list(REMOVE_DUPLICATES ${part})
    endforeach()
    set(files "")
    while(sources)
      list(SUBLIST sources 0 6 unit)
      list(REMOVE_ITEM sources ${unit})
      list(LENGTH files number)
      warden_unite_apart(file ${units}/${number} ${unit})
      list(APPEND files ${file})
    endwhile()
    add_library(gpu_${units} OBJECT ${files})
    target_link_libraries(gpu_${units} PRIVATE warden::cuda warden_warnings ${libraries})
    target_include_directories(gpu_${units} PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_definitions(gpu_${units} PRIVATE ${definition})
    # In a namespace a function main must return a value.
    target_compile_options(gpu_${units} PRIVATE --diag-suppress=940 -Xcompiler=-Wno-return-type)
    # No program takes these objects: the host compiler only checks the code, which takes half of its
    # time. The units of the simulated device have its further warnings.
    target_compile_options(gpu_${units} PRIVATE -Xcompiler=-fsyntax-only)
    set(launcher ${PROJECT_SOURCE_DIR}/scripts/cmake/only_check.sh)
    if(CMAKE_CUDA_COMPILER_LAUNCHER)
      set(launcher ${CMAKE_COMMAND} -E env CCACHE_PREFIX=${launcher} ${CMAKE_CUDA_COMPILER_LAUNCHER})
    endif()
    set_target_properties(gpu_${units} PROPERTIES CUDA_COMPILER_LAUNCHER "${launcher}")
    if(objects)
      add_dependencies(gpu_${units} ${objects})
    endif()
  endforeach()
endfunction()

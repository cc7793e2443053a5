# SPDX-License-Identifier: Apache-2.0
# install(), find_package(warden), and pkg-config for builds without CMake.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(warden_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/warden)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/warden DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} PATTERN README.md EXCLUDE)

# warden_install_pc(<name> <device> <libraries> <flags>): a file for pkg-config. It finds the prefix
# by its own place, so an installed copy may be moved.
function(warden_install_pc warden_pc_name warden_pc_device warden_pc_libraries warden_pc_flags)
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
             OUTPUT_VARIABLE warden_pc_prefix)
  # Appending an absolute path gives that path.
  cmake_path(APPEND warden_pc_libdir "\${prefix}" ${CMAKE_INSTALL_LIBDIR})
  cmake_path(APPEND warden_pc_includedir "\${prefix}" ${CMAKE_INSTALL_INCLUDEDIR})
  configure_file(${PROJECT_SOURCE_DIR}/scripts/cmake/warden.pc.in ${PROJECT_BINARY_DIR}/${warden_pc_name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${warden_pc_name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# warden_install_component(<name> [<target>...]): its library, targets that come with it, and a file
# of its own for find_package, so that several components can be installed into one prefix one after
# the other.
function(warden_install_component warden_component)
  install(TARGETS warden_${warden_component} ${ARGN} EXPORT warden_${warden_component}_targets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT warden_${warden_component}_targets NAMESPACE warden:: DESTINATION ${warden_package_dir})
endfunction()

if(WARDEN_WITH_CUDA)
  warden_install_component(cuda)
  warden_install_pc(warden "" "-lwarden_cuda" " --extended-lambda")
endif()
if(WARDEN_WITH_NCCL)
  warden_install_component(nccl)
  install(FILES ${PROJECT_SOURCE_DIR}/scripts/cmake/FindNCCL.cmake DESTINATION ${warden_package_dir})
endif()
if(WARDEN_WITH_SIM)
  warden_install_component(sim warden_race_detector)
  list(TRANSFORM warden_libbacktrace REPLACE "(.+)" " -l\\1" OUTPUT_VARIABLE warden_l_backtrace)
  warden_install_pc(warden-sim ", on the simulated device" "-lwarden_sim -lboost_context${warden_l_backtrace}" " -DWARDEN_SIMULATED=1")
  list(JOIN warden_race_flags " " warden_pc_race_flags)
  warden_install_pc(warden-race-detector ", on the simulated device, with a check of every plain access"
                    "-lwarden_sim -lboost_context${warden_l_backtrace}" " -DWARDEN_SIMULATED=1 ${warden_pc_race_flags}")
endif()
configure_package_config_file(${PROJECT_SOURCE_DIR}/scripts/cmake/warden-config.cmake.in
  ${PROJECT_BINARY_DIR}/warden-config.cmake INSTALL_DESTINATION ${warden_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/warden-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/warden-config.cmake ${PROJECT_BINARY_DIR}/warden-config-version.cmake
  DESTINATION ${warden_package_dir})

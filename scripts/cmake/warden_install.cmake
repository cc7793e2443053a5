# SPDX-License-Identifier: Apache-2.0
# install() and find_package(warden).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(warden_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/warden)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/warden DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(warden_installed warden_sim warden_default)
if(WARDEN_WITH_CUDA)
  list(APPEND warden_installed warden_cuda)
endif()
install(TARGETS ${warden_installed} EXPORT warden_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT warden_targets NAMESPACE warden:: FILE warden_targets.cmake DESTINATION ${warden_package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/scripts/cmake/warden-config.cmake.in
  ${PROJECT_BINARY_DIR}/warden-config.cmake INSTALL_DESTINATION ${warden_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/warden-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/warden-config.cmake ${PROJECT_BINARY_DIR}/warden-config-version.cmake
  DESTINATION ${warden_package_dir})

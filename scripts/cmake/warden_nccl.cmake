# SPDX-License-Identifier: Apache-2.0
# Finds NCCL for the component nccl, or leaves the component out: sets WARDEN_WITH_NCCL.
set(WARDEN_WITH_NCCL OFF)
if(NOT WARDEN_NCCL MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "WARDEN_NCCL is \"${WARDEN_NCCL}\"; it can be AUTO, ON or OFF")
endif()
if(WARDEN_WITH_CUDA AND NOT WARDEN_NCCL STREQUAL "OFF")
  # Grouped sends and receives, and communicators that do not block.
  find_package(NCCL 2.14 QUIET)
  set(WARDEN_WITH_NCCL ${NCCL_FOUND})
endif()
if(WARDEN_NCCL STREQUAL "ON" AND NOT WARDEN_WITH_NCCL)
  message(FATAL_ERROR "WARDEN_NCCL is ON, but there is no CUDA, or no NCCL 2.14 or newer was found; set NCCL_ROOT")
endif()
if(WARDEN_WITH_NCCL)
  message(STATUS "Several GPUs: NCCL ${NCCL_VERSION}")
endif()

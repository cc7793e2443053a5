# SPDX-License-Identifier: Apache-2.0
# Parts that several programs share, compiled once. A part is built only if a program takes it.
if(WARDEN_BUILD_TESTS)
  find_package(GTest REQUIRED)
  warden_add_objects(test_main SOURCES tests/support/main.cu LIBRARIES GTest::gtest
                     PRECOMPILED <gmock/gmock.h> <gtest/gtest.h> ${warden_usual_headers})
endif()
# Writes the files of all commands.
add_library(output_files STATIC EXCLUDE_FROM_ALL apps/support/output_file.cpp)
target_link_libraries(output_files PRIVATE warden_warnings)
target_include_directories(output_files PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_features(output_files PUBLIC cxx_std_20)
# Text files are read without any device: compiled once.
set(text_sources csv_reader input_file line_reader matrix_market numbers text_file)
list(TRANSFORM text_sources REPLACE "(.+)" "apps/text/\\1.cpp")
add_library(text_files STATIC EXCLUDE_FROM_ALL ${text_sources})
target_link_libraries(text_files PRIVATE warden_warnings PUBLIC output_files)
target_include_directories(text_files PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_features(text_files PUBLIC cxx_std_20)
# g++ 12 sees overlaps where text is put together (GCC's bug 105329).
target_compile_options(text_files PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
warden_add_objects(aggregate SOURCES apps/hash_table/aggregate/totals.cu apps/hash_table/aggregate/groups.cpp apps/hash_table/aggregate/check.cpp
                   apps/hash_table/aggregate/group_keys.cpp apps/hash_table/aggregate/query.cpp LIBRARIES text_files)
warden_add_objects(workload SOURCES microbench/support/workload.cu microbench/support/record_ids.cpp LIBRARIES text_files)
warden_add_objects(points UNITED SOURCES microbench/support/device_time.cu microbench/support/point.cu microbench/support/timed_point.cu)
warden_add_objects(contention_deferred UNITED_IF_FAST SOURCES microbench/contention/deferred_push.cu microbench/contention/deferred_add.cu
                   microbench/contention/deferred_update.cu microbench/contention/deferred_update_mask.cu)
warden_add_objects(deferred_points UNITED SOURCES microbench/deferred/samples.cu microbench/deferred/send.cu microbench/deferred/small.cu)
warden_add_objects(handover_pairs UNITED SOURCES microbench/handover/pairs.cu microbench/handover/pair_lock_arms.cu
                   microbench/handover/pair_warden_arms.cu)
set(allocation_sources copy decode_arms deferred_histogram emission_oracle emit emit_arms emit_atomics emit_called emit_stream histogram
    histogram_oracle item_counts shared_histogram take take_called word_stream)
list(TRANSFORM allocation_sources REPLACE "(.+)" "microbench/allocation/\\1.cu")
warden_add_objects(allocation UNITED SOURCES ${allocation_sources} SIM_SOURCES microbench/allocation/simulated/algorithms.cpp
                   GPU_SOURCES microbench/allocation/cub/decode.cu microbench/allocation/cub/histogram.cu)
set(workloads_sources adagrad_steps adagrad_sums argmin group_by nearest scatter sparse_keys)
list(TRANSFORM workloads_sources REPLACE "(.+)" "microbench/workloads/\\1.cu")
warden_add_objects(workloads UNITED_IF_FAST SOURCES ${workloads_sources} SIM_SOURCES microbench/workloads/simulated/no_arms.cpp
                   GPU_SOURCES microbench/workloads/cub/bulk_reduce.cu microbench/workloads/cub/group_by.cu
                   microbench/workloads/cub/sparse_keys.cu)
warden_add_objects(tile_sorts SOURCES microbench/bank_conflicts/warp_sorts.cu microbench/bank_conflicts/inputs.cpp
                   SIM_SOURCES microbench/bank_conflicts/simulated/block_sorts.cpp
                   GPU_SOURCES microbench/bank_conflicts/cub/block_sorts.cu)
warden_add_objects(bank_arms SOURCES apps/bank_transfer/bank.cu apps/bank_transfer/arms.cu apps/bank_transfer/lock_arms.cu
                   apps/bank_transfer/rounds_arm.cu apps/bank_transfer/several_arm.cu apps/bank_transfer/warden_arms.cu)
# The host part of apps/graph knows no device: it is compiled once.
set(graph_sources cache csr read read_dimacs read_matrix_market read_snap summary undirected write)
list(TRANSFORM graph_sources REPLACE "(.+)" "apps/graph/\\1.cpp")
add_library(graph_files STATIC EXCLUDE_FROM_ALL ${graph_sources})
target_link_libraries(graph_files PRIVATE warden_warnings PUBLIC text_files)
target_include_directories(graph_files PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_features(graph_files PUBLIC cxx_std_20)
# g++ 12 sees overlaps where text is put together (GCC's bug 105329).
target_compile_options(graph_files PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
warden_add_objects(graph SOURCES apps/graph/generate.cu apps/graph/device_csr.cu SIM_SOURCES apps/graph/simulated/primitives.cpp
                   GPU_SOURCES apps/graph/cub/primitives.cu LIBRARIES graph_files)
set(no_cusparse microbench/sparse_product/simulated/no_cusparse.cpp)
set(sparse_product_gpu microbench/sparse_product/cusparse/product.cpp)
if(WARDEN_WITH_CUDA AND NOT TARGET CUDA::cusparse)
  message(STATUS "No cuSPARSE: the benchmark sparse_product has no arm cusparse")
  set(sparse_product_gpu ${no_cusparse})
endif()
warden_add_objects(sparse_product UNITED SOURCES microbench/sparse_product/matrix.cu microbench/sparse_product/points.cu SIM_SOURCES ${no_cusparse}
                   GPU_SOURCES ${sparse_product_gpu} LIBRARIES ${CMAKE_DL_LIBS})
if(TARGET sparse_product_objects)
  target_compile_definitions(sparse_product_objects PRIVATE CUDA_LIBRARIES="${CUDAToolkit_LIBRARY_DIR}")
endif()

find_package(Boost 1.74 REQUIRED)  # headers: disjoint sets
add_library(kruskal STATIC EXCLUDE_FROM_ALL apps/spanning_forest/kruskal.cpp)
target_link_libraries(kruskal PRIVATE warden_warnings Boost::headers)
target_include_directories(kruskal PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_features(kruskal PUBLIC cxx_std_20)
warden_add_objects(forest_arms UNITED SOURCES apps/spanning_forest/arms.cu apps/spanning_forest/first_iteration.cu apps/spanning_forest/forest.cu
                   apps/spanning_forest/lock_arm.cu apps/spanning_forest/iteration.cu apps/spanning_forest/warden_arm.cu)
# One name, device_algorithms.cuh, for CUB's and for loops of the host.
if(TARGET forest_arms_objects_sim)
  target_include_directories(forest_arms_objects_sim PRIVATE ${PROJECT_SOURCE_DIR}/apps/support/simulated)
endif()
if(TARGET forest_arms_objects)
  target_include_directories(forest_arms_objects PRIVATE ${PROJECT_SOURCE_DIR}/apps/support/cub)
endif()
# Boost's maximum flows use no device either. Tests wait for them, so they are optimized.
add_library(boost_flows STATIC EXCLUDE_FROM_ALL apps/max_flow/reference.cpp)
target_link_libraries(boost_flows PRIVATE warden_warnings)
target_include_directories(boost_flows PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_features(boost_flows PUBLIC cxx_std_20)
warden_add_objects(max_flow UNITED SOURCES apps/max_flow/arms.cu apps/max_flow/audit.cu apps/max_flow/flow.cu apps/max_flow/lock_arm.cu
                   apps/max_flow/region_arm.cu apps/max_flow/warden_arm.cu)
warden_add_objects(breadth_first UNITED SOURCES apps/breadth_first/arms.cu apps/breadth_first/audit.cu apps/breadth_first/cull_arms.cu
                   apps/breadth_first/gather_arms.cu apps/breadth_first/queue_arms.cu apps/breadth_first/searcher.cu
                   apps/breadth_first/warden_arm.cu)
find_package(Threads REQUIRED)
warden_add_objects(breadth_first_owner SOURCES apps/breadth_first/owner_searcher.cu apps/breadth_first/partition.cpp
                   LIBRARIES Threads::Threads)
add_library(breadth_first_reference STATIC EXCLUDE_FROM_ALL apps/breadth_first/reference.cpp)
target_link_libraries(breadth_first_reference PRIVATE warden_warnings)
target_include_directories(breadth_first_reference PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_features(breadth_first_reference PUBLIC cxx_std_20)
# Boost's shortest paths use no device either.
add_library(boost_paths STATIC EXCLUDE_FROM_ALL apps/shortest_paths/reference.cpp)
target_link_libraries(boost_paths PRIVATE warden_warnings Boost::headers)
target_include_directories(boost_paths PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_features(boost_paths PUBLIC cxx_std_20)
warden_add_objects(shortest_paths UNITED SOURCES apps/shortest_paths/audit.cu apps/shortest_paths/finder.cu apps/shortest_paths/parents.cu
                   apps/shortest_paths/step_search.cu apps/shortest_paths/worklist_arm.cu)
# The host part of matrix factorization uses no device either.
set(factorization_sources model model_file planted ratings read sequential tile_pairs write)
list(TRANSFORM factorization_sources REPLACE "(.+)" "apps/matrix_factorization/\\1.cpp")
add_library(factorization_host STATIC EXCLUDE_FROM_ALL ${factorization_sources})
target_link_libraries(factorization_host PRIVATE warden_warnings PUBLIC graph_files Threads::Threads)
target_include_directories(factorization_host PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_features(factorization_host PUBLIC cxx_std_20)
set(factorization_sources arms deferred_arm descent hogwild_arm lock_arm rounds_arm)
list(TRANSFORM factorization_sources REPLACE "(.+)" "apps/matrix_factorization/\\1.cu")
warden_add_objects(factorization SOURCES ${factorization_sources} LIBRARIES factorization_host)
warden_add_objects(transactions UNITED SOURCES apps/transactions/arms.cu apps/transactions/serial_check.cu apps/transactions/warden_arm.cu
                   apps/transactions/ycsb.cu)
warden_add_objects(tpcc UNITED SOURCES apps/transactions/tpcc/arms.cu apps/transactions/tpcc/conditions.cu apps/transactions/tpcc/population.cu
                   apps/transactions/tpcc/workload.cu)

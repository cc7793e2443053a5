// SPDX-License-Identifier: Apache-2.0
// Product of a matrix in CSR by cuSPARSE. The library is loaded at run time, so that the program
// also runs on a machine without it.

#include "microbench/sparse_product/cusparse.hpp"

#include <warden/buffer.hpp>

#include <cusparse.h>
#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace sparse_product {
namespace {

/// The functions of the library that the arm calls.
struct library {
  decltype(&cusparseCreate) create;
  decltype(&cusparseDestroy) destroy;
  decltype(&cusparseGetErrorString) error_text;
  decltype(&cusparseCreateCsr) create_csr;
  decltype(&cusparseCreateDnVec) create_vector;
  decltype(&cusparseDestroySpMat) destroy_matrix;
  decltype(&cusparseDestroyDnVec) destroy_vector;
  decltype(&cusparseSpMV_bufferSize) buffer_size;
  decltype(&cusparseSpMV_preprocess) prepare;
  decltype(&cusparseSpMV) multiply;
};

/// Returns the library, or null. If it is missing, the first call prints the reason.
library const* loaded() {
  static library const* const all = []() -> library const* {
    std::string const name = "libcusparse.so." + std::to_string(CUSPARSE_VER_MAJOR);
    void* handle = dlopen(name.c_str(), RTLD_NOW);
    if (handle == nullptr) handle = dlopen((CUDA_LIBRARIES "/" + name).c_str(), RTLD_NOW);
    static library l;
    bool is_complete = handle != nullptr;
    auto const find = [&](auto& function, char const* symbol) {
      if (is_complete)
        function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(handle, symbol));
      is_complete = is_complete && function != nullptr;
    };
    find(l.create, "cusparseCreate");
    find(l.destroy, "cusparseDestroy");
    find(l.error_text, "cusparseGetErrorString");
    find(l.create_csr, "cusparseCreateCsr");
    find(l.create_vector, "cusparseCreateDnVec");
    find(l.destroy_matrix, "cusparseDestroySpMat");
    find(l.destroy_vector, "cusparseDestroyDnVec");
    find(l.buffer_size, "cusparseSpMV_bufferSize");
    find(l.prepare, "cusparseSpMV_preprocess");
    find(l.multiply, "cusparseSpMV");
    if (is_complete) return &l;
    std::fprintf(stderr, "sparse_product: no arm cusparse: %s\n", dlerror());
    return nullptr;
  }();
  return all;
}

/// Product by cuSPARSE. The constructor analyses the matrix, outside of measured times.
class csr_product {
 public:
  csr_product(library const& l, matrix_view const& m) : l_{l} {
    auto* const offsets = const_cast<std::uint32_t*>(m.offsets);
    auto* const columns = const_cast<std::uint32_t*>(m.entry_columns);
    check(l_.create(&handle_));
    check(l_.create_csr(&matrix_, m.rows, m.columns, m.entries, offsets, columns,
                        const_cast<float*>(m.values), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                        CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    check(l_.create_vector(&x_, m.columns, const_cast<float*>(m.x), CUDA_R_32F));
    check(l_.create_vector(&y_, m.rows, m.y, CUDA_R_32F));
    std::size_t bytes = 0;
    check(l_.buffer_size(handle_, operation, &one, matrix_, x_, &zero, y_, CUDA_R_32F, algorithm,
                         &bytes));
    scratch_ = warden::buffer<std::byte>{bytes};
    check(l_.prepare(handle_, operation, &one, matrix_, x_, &zero, y_, CUDA_R_32F, algorithm,
                     scratch_.data()));
  }
  csr_product(csr_product const&) = delete;
  csr_product& operator=(csr_product const&) = delete;
  ~csr_product() {
    if (x_ != nullptr) l_.destroy_vector(x_);
    if (y_ != nullptr) l_.destroy_vector(y_);
    if (matrix_ != nullptr) l_.destroy_matrix(matrix_);
    if (handle_ != nullptr) l_.destroy(handle_);
  }
  /// Enqueues the product.
  void run_async() const {
    check(l_.multiply(handle_, operation, &one, matrix_, x_, &zero, y_, CUDA_R_32F, algorithm,
                      scratch_.data()));
  }

 private:
  static constexpr cusparseOperation_t operation = CUSPARSE_OPERATION_NON_TRANSPOSE;
  static constexpr cusparseSpMVAlg_t algorithm = CUSPARSE_SPMV_ALG_DEFAULT;
  static constexpr float one = 1, zero = 0;

  void check(cusparseStatus_t status) const {
    if (status != CUSPARSE_STATUS_SUCCESS)
      throw std::runtime_error{std::string{"cuSPARSE: "} + l_.error_text(status)};
  }

  library const& l_;
  cusparseHandle_t handle_ = nullptr;
  cusparseSpMatDescr_t matrix_ = nullptr;
  cusparseDnVecDescr_t x_ = nullptr, y_ = nullptr;
  warden::buffer<std::byte> scratch_{0};
};

}  // namespace

bool has_cusparse() { return loaded() != nullptr; }

workloads::arm make_cusparse(matrix_view const& m) {
  auto const by = std::make_shared<csr_product>(*loaded(), m);
  return {.run_async = [by] { by->run_async(); }};
}

}  // namespace sparse_product

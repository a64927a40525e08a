// Values on the host as the bytes that copies write. Plain C++.
#ifndef GRIDFOLD_KERNELS_CUDA_DEVICE_HOST_BYTES_H_
#define GRIDFOLD_KERNELS_CUDA_DEVICE_HOST_BYTES_H_

#include <span>

#include "kernels/contract/array.h"

namespace gridfold::kernels::cuda {

// The bytes of contiguous values, a vector, an array or a span, which must outlive them.
template <class Values>
MutableHostSpan BytesOf(Values&& values) {
  const auto bytes = std::as_writable_bytes(std::span(values));
  return {bytes.data(), bytes.size()};
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_DEVICE_HOST_BYTES_H_

// Copies that bypass the caches, for results larger than the caches: a plain store to memory that
// is not cached reads it first. Scans of float64, which write their results in the most steps, gain
// by it; those of 4-byte elements and of int64 do not.
#ifndef GRIDFOLD_KERNELS_CPU_STREAMING_COPY_H_
#define GRIDFOLD_KERNELS_CPU_STREAMING_COPY_H_

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gridfold::kernels {

inline constexpr size_t kStreamAlignment = 16;

// Smaller results may still be in the caches when they are needed.
inline constexpr uint64_t kStreamedBytesMin = uint64_t{32} << 20;

// `target` and `size_bytes` are multiples of kStreamAlignment. Other threads see the copied bytes
// only after FinishStreaming.
inline void StreamingCopy(const void* source, void* target, size_t size_bytes) {
#ifdef __SSE2__
  const auto* const from = static_cast<const __m128i*>(source);
  auto* const to = static_cast<__m128i*>(target);
  for (size_t i = 0; i < size_bytes / sizeof(__m128i); ++i) {
    _mm_stream_si128(to + i, _mm_loadu_si128(from + i));
  }
#else
  std::memcpy(target, source, size_bytes);
#endif
}

// Orders this thread's copies before its later stores.
inline void FinishStreaming() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CPU_STREAMING_COPY_H_

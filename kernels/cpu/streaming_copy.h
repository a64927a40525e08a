// Copies past the caches, for results that are larger than they are: a plain store to memory that
// is in no cache reads it first. Scans of float64 gain by it, whose results are written in the most
// steps; those of 4-byte elements and of int64 do not.
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

// Results of fewer bytes may be in the caches still when they are needed.
inline constexpr uint64_t kStreamedBytesMin = uint64_t{32} << 20;

// `target` and `size_bytes` are multiples of kStreamAlignment. What is copied is seen by other
// threads after FinishStreaming only.
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

// What this thread copied comes before what it does from here on.
inline void FinishStreaming() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_CPU_STREAMING_COPY_H_

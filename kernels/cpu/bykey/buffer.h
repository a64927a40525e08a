// Memory for elements that are written before they are read, and how work on them is shared out.
#ifndef GRIDFOLD_KERNELS_CPU_BYKEY_BUFFER_H_
#define GRIDFOLD_KERNELS_CPU_BYKEY_BUFFER_H_

#include <algorithm>
#include <cstdint>
#include <memory>

#include "kernels/cpu/base/job_context.h"

namespace gridfold::kernels::cpu {

template <class T>
using Buffer = std::unique_ptr<T[]>;

template <class T>
Buffer<T> MakeBuffer(uint64_t count) {
  return std::make_unique_for_overwrite<T[]>(count);
}

// Elements of a piece of work on all elements: so many that asking for the next takes no time.
inline constexpr uint64_t kKeysPerPiece = uint64_t{1} << 16;

constexpr uint64_t KeyPieceCount(uint64_t element_count) {
  return (element_count + kKeysPerPiece - 1) / kKeysPerPiece;
}

// Calls work(piece, begin, end) for the pieces of so many elements, on the job's threads.
template <class Work>
absl::Status ForEachKeyPiece(uint64_t element_count, JobContext& job, Work work) {
  return job.ForEach(KeyPieceCount(element_count), [&](uint64_t piece) {
    const uint64_t begin = piece * kKeysPerPiece;
    work(piece, begin, std::min(begin + kKeysPerPiece, element_count));
  });
}

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_BYKEY_BUFFER_H_

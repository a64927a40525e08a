// A weight is added here to the exact sum of its bin.
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WEIGHTS_WEIGHTS_CUH_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WEIGHTS_WEIGHTS_CUH_

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <bit>
#include <cstdint>

#include "kernels/cuda/histogram/plan/arguments.h"
#include "kernels/numerics/sums/exact_sum.h"

namespace gridfold::kernels::cuda {

// +-magnitude * 2^position, in units of the sums' first digit. Infinities and NaN are flags and 0.
struct Weight {
  uint64_t magnitude;
  uint32_t position;
  bool negative;
  uint32_t flags;
};

// Digits that a weight may touch, from that of its position on.
inline constexpr int kWeightPieces = 3;
inline constexpr int kWeightDigitBits = 32;

template <class W>
__device__ uint64_t LoadInteger(const void* data, uint64_t i) {
  return static_cast<uint64_t>(static_cast<int64_t>(static_cast<const W*>(data)[i]));
}
template <class W>
__device__ uint64_t LoadFloat(const void* data, uint64_t i) {
  return std::bit_cast<uint32_t>(static_cast<float>(static_cast<const W*>(data)[i]));
}

// Element i of an array of any element type: an integer of 64 bits, or the bits of a float or
// double. A call, so that the loads of all types are not repeated in every kernel.
static __device__ __noinline__ uint64_t LoadWeightBits(const void* data, ElementType type,
                                                       uint64_t i) {
  switch (type) {
    case ElementType::kInt8: return LoadInteger<int8_t>(data, i);
    case ElementType::kInt16: return LoadInteger<int16_t>(data, i);
    case ElementType::kInt32: return LoadInteger<int32_t>(data, i);
    case ElementType::kInt64: return LoadInteger<int64_t>(data, i);
    case ElementType::kUint8: return LoadInteger<uint8_t>(data, i);
    case ElementType::kUint16: return LoadInteger<uint16_t>(data, i);
    case ElementType::kUint32: return LoadInteger<uint32_t>(data, i);
    case ElementType::kUint64: return LoadInteger<uint64_t>(data, i);
    case ElementType::kFloat16: return LoadFloat<Float16>(data, i);
    case ElementType::kBfloat16: return LoadFloat<Bfloat16>(data, i);
    case ElementType::kFloat32: return LoadFloat<float>(data, i);
    case ElementType::kFloat64: break;
  }
  return static_cast<const uint64_t*>(data)[i];
}

template <class F>
__device__ Weight WeightOf(F x) {
  const uint32_t flags = ExactSumFlagsOf(x);
  const DecomposedFloat d = Decompose(x);
  return {(flags & kSawNan) == 0 ? d.significand : 0, d.position, d.negative, flags};
}

__device__ inline Weight LoadWeight(const HistogramArguments& arguments, uint64_t sample) {
  const ElementType type = arguments.weight_type;
  const uint64_t bits = LoadWeightBits(arguments.weights, type, sample);
  if (type == ElementType::kFloat64) return WeightOf(std::bit_cast<double>(bits));
  if (IsFloatingPoint(type)) return WeightOf(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  const bool negative = IsSigned(type) && static_cast<int64_t>(bits) < 0;
  return {negative ? uint64_t{0} - bits : bits, 0, negative, 0};
}

// The sum over the group of values below 2^32 in size, in halves, since that is what the hardware
// reduces.
__device__ inline int64_t SumOverGroup(const cooperative_groups::coalesced_group& group,
                                       int64_t value) {
  const auto plus = cooperative_groups::plus<int>();
  const int low = cooperative_groups::reduce(group, static_cast<int>(value & 0xFFFF), plus);
  const int high = cooperative_groups::reduce(group, static_cast<int>(value >> 16), plus);
  return static_cast<int64_t>(high) * 0x10000 + low;
}

// The sums of the bins of one pass, in device memory.
class GlobalSums {
 public:
  __device__ explicit GlobalSums(const HistogramArguments& arguments) : arguments_(arguments) {}

  __device__ bool Has(uint64_t bin) const {
    return bin - arguments_.first_bin < arguments_.pass_bin_count;
  }

  __device__ void AddFlags(uint64_t bin, uint32_t flags) {
    atomicOr(WordOf(bin, arguments_.weight_layout.words - 1),
             static_cast<unsigned long long>(flags));
  }

  __device__ void AddDigit(uint64_t bin, uint32_t digit, int64_t value) {
    atomicAdd(WordOf(bin, digit), static_cast<unsigned long long>(value));
  }

 private:
  __device__ unsigned long long* WordOf(uint64_t bin, uint32_t word) const {
    return reinterpret_cast<unsigned long long*>(arguments_.counters) +
           (bin - arguments_.first_bin) * arguments_.weight_layout.words + word;
  }

  const HistogramArguments& arguments_;
};

// Adds the weight to the sum of its bin in `table`. Threads of a warp that add to the same digits
// as its first one do so together where they are several: all threads, where the data is constant.
template <class Table>
__device__ void AddWeight(Table& table, uint64_t bin, const Weight& weight, uint32_t flags_kept) {
  constexpr int kJoinedThreadsMin = 4;
  constexpr uint64_t kPlacesPerBin = 128;  // More than there are digits.
  if ((weight.flags & flags_kept) != 0) table.AddFlags(bin, weight.flags & flags_kept);
  if (weight.magnitude == 0) return;

  const uint32_t first = weight.position / kWeightDigitBits;
  int64_t pieces[kWeightPieces];
  ForEachDigit<64>(weight.magnitude, weight.position, weight.negative,
                   [&](uint32_t digit, int64_t value) { pieces[digit - first] = value; });

  const auto threads = cooperative_groups::coalesced_threads();
  const unsigned long long place = bin * kPlacesPerBin + first;
  const bool joins = threads.shfl(place, 0) == place;
  const auto group = cooperative_groups::binary_partition(threads, joins);
  if (joins && group.num_threads() >= kJoinedThreadsMin) {
    for (int i = 0; i < kWeightPieces; ++i) pieces[i] = SumOverGroup(group, pieces[i]);
    if (group.thread_rank() != 0) return;
  }
  for (int i = 0; i < kWeightPieces; ++i) {
    if (pieces[i] != 0) table.AddDigit(bin, first + i, pieces[i]);
  }
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WEIGHTS_WEIGHTS_CUH_

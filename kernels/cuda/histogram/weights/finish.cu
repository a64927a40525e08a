// From the digits of sums of weights to answers.
#include <type_traits>

#include "kernels/cuda/histogram/plan/weight_kernels.h"
#include "kernels/cuda/histogram/weights/weights.cuh"
#include "kernels/numerics/sums/weight_sum.h"

namespace gridfold::kernels::cuda {

namespace {

static_assert(WeightLayoutOf(ElementType::kFloat32).digits <= ExactSum<float, 1>::kDigits &&
              WeightLayoutOf(ElementType::kFloat64).digits <= ExactSum<double, 1>::kDigits);

__global__ void __launch_bounds__(kWeightTableThreads) CarryWeights(const WeightTable table) {
  const uint64_t bin = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (bin >= table.bin_count) return;
  uint64_t* const words = table.words + bin * table.layout.words;
  int64_t carry = 0;
  for (uint32_t digit = 0; digit + 1 < table.layout.digits; ++digit) {
    const int64_t sum = static_cast<int64_t>(words[digit]) + carry;
    words[digit] = static_cast<uint32_t>(sum);
    carry = sum >> kWeightDigitBits;
  }
  words[table.layout.digits - 1] += static_cast<uint64_t>(carry);
}

template <class Sum>
__device__ Sum SumOf(const WeightTable& table, const uint64_t* words) {
  const int digits = static_cast<int>(table.layout.digits);
  const auto digit = [&](int i) { return i < digits ? static_cast<int64_t>(words[i]) : 0; };
  Sum sum{};
  if constexpr (std::is_same_v<Sum, Int128>) {
    for (int i = digits - 1; i >= 0; --i) {
      sum = sum * (int64_t{1} << kWeightDigitBits) + digit(i);
    }
  } else {
    sum.AddDigits(digit);
    // The rounded zero has no sign.
    const uint32_t not_kept = table.keeps_zero_signs ? 0 : kSawOtherThanNegativeZero;
    sum.AddFlags(static_cast<uint32_t>(words[digits]) | not_kept);
  }
  return sum;
}

template <class Sum>
__global__ void __launch_bounds__(kWeightTableThreads) FinishWeights(const WeightTable table) {
  const uint64_t bin = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (bin >= table.bin_count) return;
  const Sum sum = SumOf<Sum>(table, table.words + bin * table.layout.words);
  table.rounded[bin] = RoundedWeightSum(sum);
  if (table.states != nullptr) static_cast<Sum*>(table.states)[bin] = sum;
}

}  // namespace

WeightTableKernel FindCarryWeightsKernel() { return CarryWeights; }

WeightTableKernel FindFinishWeightsKernel(ElementType type) {
  return VisitElementType(type, [](auto tag) -> WeightTableKernel {
    return FinishWeights<WeightSum<typename decltype(tag)::type>>;
  });
}

}  // namespace gridfold::kernels::cuda

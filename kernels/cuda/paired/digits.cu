#include "kernels/cuda/paired/arguments.h"
#include "kernels/numerics/paired/product_sum.h"

namespace gridfold::kernels::cuda {

namespace {

constexpr uint32_t kWarpLanes = 32;
constexpr uint32_t kAllLanes = 0xFFFF'FFFFu;

template <class T>
struct Column {
  const T* first;
  uint64_t stride;

  __device__ T At(uint64_t i) const { return first[i * stride]; }
};

template <class T>
__device__ Column<T> ColumnOf(const PairedPlaces& places, uint32_t c) {
  if (c == places.column_count) return {static_cast<const T*>(places.weights), 1};
  if (places.has_y) return {static_cast<const T*>(c == 0 ? places.x : places.y), 1};
  return {static_cast<const T*>(places.x) + c, places.column_count};
}

template <class T>
__device__ bool HasNan(const PairedPlaces& places, uint64_t i) {
  const uint32_t count = places.column_count + (places.has_weights ? 1 : 0);
  bool has_nan = false;
  for (uint32_t c = 0; c < count; ++c) has_nan = has_nan || IsNan(ColumnOf<T>(places, c).At(i));
  return has_nan;
}

__device__ unsigned long long SumOfWarp(unsigned long long x) {
#pragma unroll
  for (uint32_t step = kWarpLanes / 2; step > 0; step /= 2) {
    x += __shfl_down_sync(kAllLanes, x, step);
  }
  return x;
}

// A row of blocks sums the products of one term. Each thread has digits of its own in shared
// memory, [digit][thread], so that threads of a warp never meet in a bank, whatever digits they add
// to.
template <class T, int kFactors>
__global__ void SumProducts(const PairedArguments arguments) {
  extern __shared__ __align__(16) unsigned char paired_memory[];
  int64_t* const bank = reinterpret_cast<int64_t*>(paired_memory);
  int64_t* const own = bank + threadIdx.x;
  for (uint32_t d = 0; d < arguments.digits; ++d) own[d * blockDim.x] = 0;
  const PairedTerm term = arguments.terms[blockIdx.y];
  Column<T> columns[kFactors];
#pragma unroll
  for (int f = 0; f < kFactors; ++f) columns[f] = ColumnOf<T>(arguments.places, term.factors[f]);

  uint32_t flags = 0;
  unsigned long long count = 0;
  const uint64_t step = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = arguments.begin + uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
       i < arguments.end; i += step) {
    if (arguments.ignores_nan && HasNan<T>(arguments.places, i)) continue;
    T factors[kFactors];
#pragma unroll
    for (int f = 0; f < kFactors; ++f) factors[f] = columns[f].At(i);
    flags |= AddProduct(factors,
                        [&](uint32_t digit, int64_t value) { own[digit * blockDim.x] += value; });
    ++count;
  }
  __syncthreads();

  const uint32_t lane = threadIdx.x % kWarpLanes;
  const uint32_t warp_count = blockDim.x / kWarpLanes;
  unsigned long long* const sums = arguments.digit_sums + uint64_t{blockIdx.y} * arguments.digits;
  for (uint32_t d = threadIdx.x / kWarpLanes; d < arguments.digits; d += warp_count) {
    unsigned long long sum = 0;
    for (uint32_t t = lane; t < blockDim.x; t += kWarpLanes) {
      sum += static_cast<unsigned long long>(bank[d * blockDim.x + t]);
    }
    sum = SumOfWarp(sum);
    if (lane == 0 && sum != 0) atomicAdd(&sums[d], sum);
  }
  flags = __reduce_or_sync(kAllLanes, flags);
  if (lane == 0 && flags != 0) {
    atomicOr(&arguments.flags[blockIdx.y], static_cast<unsigned long long>(flags));
  }
  if (arguments.observation_count == nullptr || blockIdx.y != 0) return;
  count = SumOfWarp(count);
  if (lane == 0 && count != 0) atomicAdd(arguments.observation_count, count);
}

}  // namespace

PairedKernel FindPairedKernel(ElementType type, int factor_count) {
  return VisitElementType(type, [factor_count](auto tag) -> PairedKernel {
    using T = typename decltype(tag)::type;
    if (factor_count == 1) return SumProducts<T, 1>;
    return factor_count == 2 ? SumProducts<T, 2> : SumProducts<T, 3>;
  });
}

}  // namespace gridfold::kernels::cuda

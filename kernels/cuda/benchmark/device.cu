#include <bit>
#include <type_traits>

#include "kernels/cuda/benchmark/device.h"
#include "kernels/numerics/arithmetic/element.h"

namespace gridfold::kernels::cuda {

namespace {

__device__ uint64_t FirstItem() {
  return static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ uint64_t ItemStep() { return static_cast<uint64_t>(gridDim.x) * blockDim.x; }

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
__device__ uint64_t Hash(uint64_t x) {
  x += 0x9E37'79B9'7F4A'7C15u;
  x = (x ^ (x >> 30)) * 0xBF58'476D'1CE4'E5B9u;
  x = (x ^ (x >> 27)) * 0x94D0'49BB'1331'11EBu;
  return x ^ (x >> 31);
}

__global__ void __launch_bounds__(kBenchmarkThreads)
    Read(const void* input, uint64_t words, uint32_t* output) {
  constexpr uint32_t kInFlight = 4;
  const uint4* const vectors = static_cast<const uint4*>(input);
  const uint64_t step = ItemStep();
  uint32_t bits = 0;
  uint64_t i = FirstItem();
  for (; i + (kInFlight - 1) * step < words; i += kInFlight * step) {
    uint4 loaded[kInFlight];
#pragma unroll
    for (uint32_t k = 0; k < kInFlight; ++k) loaded[k] = vectors[i + k * step];
#pragma unroll
    for (uint32_t k = 0; k < kInFlight; ++k) {
      bits ^= loaded[k].x ^ loaded[k].y ^ loaded[k].z ^ loaded[k].w;
    }
  }
  for (; i < words; i += step) bits ^= vectors[i].x ^ vectors[i].y ^ vectors[i].z ^ vectors[i].w;
  // A write that the compiler cannot leave out and that hardly ever happens.
  if (bits == 0x1234'5678u) *output = bits;
}

__device__ uint64_t Nanoseconds() {
  uint64_t time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

__global__ void Hold(uint64_t nanoseconds) {
  const uint64_t begin = Nanoseconds();
  while (Nanoseconds() - begin < nanoseconds) {
  }
}

__global__ void FillBits(uint32_t* output, uint64_t words) {
  for (uint64_t i = FirstItem(); i < words; i += ItemStep()) {
    output[i] = static_cast<uint32_t>(Hash(i));
  }
}

__device__ double Uniform(uint64_t hash) { return static_cast<double>(hash >> 11) * 0x1p-53; }

__device__ double Sample(BenchmarkData data, uint64_t i, uint64_t count, int spread) {
  const uint64_t hash = Hash(i);
  const uint64_t second = Hash(hash);
  const int level = static_cast<int>(i >> 20);
  switch (data) {
    case BenchmarkData::kNormal:
      return sqrt(-2 * log(1 - Uniform(hash))) * cospi(2 * Uniform(second));
    case BenchmarkData::kSorted: return static_cast<double>(i) / static_cast<double>(count);
    case BenchmarkData::kDrifting:
      return ldexp(1 + Uniform(hash), level % (spread / 2) - spread / 4);
    case BenchmarkData::kSpread:
      return ldexp(2 * Uniform(hash) - 1,
                   static_cast<int>(second % static_cast<uint64_t>(2 * spread + 1)) - spread);
    default: return Uniform(hash);
  }
}

// The element with any bits but those of infinities and NaN.
template <class T, class Bits>
__device__ T FiniteOf(uint64_t hash, Bits exponent_mask) {
  Bits bits = static_cast<Bits>(hash);
  if ((bits & exponent_mask) == exponent_mask) bits ^= exponent_mask & (~exponent_mask + 1) * 2;
  return std::bit_cast<T>(bits);
}

template <class T>
__device__ T AnyFinite(uint64_t hash) {
  if constexpr (std::is_same_v<T, double>) {
    return FiniteOf<T, uint64_t>(hash, 0x7FF0'0000'0000'0000u);
  } else if constexpr (std::is_same_v<T, float>) {
    return FiniteOf<T, uint32_t>(hash, 0x7F80'0000u);
  } else {
    return FiniteOf<T, uint16_t>(hash, std::is_same_v<T, Float16> ? 0x7C00 : 0x7F80);
  }
}

template <class T>
__device__ T Rounded(double x) {
  if constexpr (HalfElement<T>) {
    return T::FromDouble(x);
  } else {
    return static_cast<T>(x);
  }
}

template <class T>
__global__ void Fill(T* output, uint64_t count, BenchmarkData data) {
  const int spread = std::is_same_v<T, Float16> ? 12 : 60;
  for (uint64_t i = FirstItem(); i < count; i += ItemStep()) {
    output[i] = data == BenchmarkData::kAnyBits ? AnyFinite<T>(Hash(i))
                                                : Rounded<T>(Sample(data, i, count, spread));
  }
}

}  // namespace

BenchmarkKernels GetBenchmarkKernels() { return {Read, Hold, FillBits}; }

template <class T>
FillKernel<T> GetFillKernel() {
  return Fill<T>;
}
template FillKernel<Float16> GetFillKernel<Float16>();
template FillKernel<Bfloat16> GetFillKernel<Bfloat16>();
template FillKernel<float> GetFillKernel<float>();
template FillKernel<double> GetFillKernel<double>();

}  // namespace gridfold::kernels::cuda

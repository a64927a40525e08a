// A block sums weights in shared memory, in words of 32 bits (numerics/sums/weight_window.h) that
// carry into each other at once: shared memory adds 32 bits at a time, and an addition of 64 would
// be a loop of attempts.
//
// Example, words of 8 bits, low first, a sum {0xf0, 0x01} and a weight of 0x25:
//
//   the addition to word 0 returns 0xf0, which with 0x25 is past 0xff: a carry
//   word 0 becomes 0x15, and 1 is added to word 1: {0x15, 0x02}
#ifndef GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WEIGHTS_WORDS_CUH_
#define GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WEIGHTS_WORDS_CUH_

#include <cstdint>

#include "kernels/cuda/device/shared_address.cuh"
#include "kernels/cuda/histogram/plan/arguments.h"
#include "kernels/cuda/histogram/weights/weights.cuh"
#include "kernels/numerics/sums/weight_window.h"

namespace gridfold::kernels::cuda {

// The words of sums. Word i of all sums stands side by side, and so do the copies of a word, each
// for other lanes of a warp.
class WeightWords {
 public:
  // `count` sums, in memory for `spare` more: for kWindowSpareSums where threads have idle sums.
  __device__ WeightWords(uint32_t* memory, uint32_t count, uint32_t spare, uint32_t words,
                         uint32_t copies)
      : memory_(memory),
        count_(count),
        words_(words),
        copies_(copies),
        sum_bytes_(copies * kWordBytes),
        word_bytes_((count + spare) * sum_bytes_),
        own_(SharedAddress(&memory[threadIdx.x & (copies - 1)])) {}

  __device__ uint32_t count() const { return count_; }
  __device__ uint32_t copies() const { return copies_; }

  __device__ void Clear() {
    const uint32_t size = word_bytes_ / kWordBytes * words_;
    for (uint32_t i = threadIdx.x; i < size; i += blockDim.x) memory_[i] = kWindowWordZero;
  }

  // The address of the word that this thread adds to.
  __device__ uint32_t AddressOf(uint32_t sum, uint32_t word) const {
    return own_ + OffsetOf(sum, word);
  }

  // A sum behind the others, of this lane: where it may add 0, which takes less than a branch
  // around an addition, and what MoveIdleSum will take to another.
  __device__ uint32_t IdleSum() const { return count_ + threadIdx.x % 32; }

  // Adds a number to the word at `address`, but for the rest, which AddRests has to add.
  __device__ int32_t AddLow(uint32_t address, int64_t value) const {
    const uint32_t old = AddAt(address, static_cast<uint32_t>(value));
    return static_cast<int32_t>((value + old) >> kWindowWordBits);
  }

  // Adds a number that reaches into three words to the word at `address`, but for the rest.
  __device__ int64_t AddLow(uint32_t address, const WideUnits& value) const {
    const uint32_t old = AddAt(address, value.low);
    return value.high + (value.low > ~old ? 1 : 0);
  }

  // Adds the rests of numbers at `addresses`.
  template <uint32_t kNumbers>
  __device__ void AddRests(const uint32_t (&addresses)[kNumbers],
                           const int32_t (&rests)[kNumbers]) const {
    int32_t carries[kNumbers];
    int32_t any = 0;
#pragma unroll
    for (uint32_t j = 0; j < kNumbers; ++j) {
      const uint32_t old =
          AddUnlessZero(addresses[j] + word_bytes_, static_cast<uint32_t>(rests[j]));
      carries[j] = static_cast<int32_t>((int64_t{rests[j]} + old) >> kWindowWordBits);
      any |= carries[j];
    }
    if (any == 0) return;
#pragma unroll
    for (uint32_t j = 0; j < kNumbers; ++j) Carry(addresses[j] + 2 * word_bytes_, carries[j]);
  }
  template <uint32_t kNumbers>
  __device__ void AddRests(const uint32_t (&addresses)[kNumbers],
                           const int64_t (&rests)[kNumbers]) const {
    uint32_t next[kNumbers];
    int32_t last[kNumbers];
#pragma unroll
    for (uint32_t j = 0; j < kNumbers; ++j) {
      next[j] = addresses[j] + word_bytes_;
      last[j] = AddLow(next[j], rests[j]);
    }
    AddRests(next, last);
  }

  // Adds a number that fits, in units of the word.
  __device__ void Add(uint32_t sum, uint32_t word, int64_t value) const {
    AddAll(AddressOf(sum, word), value);
  }
  __device__ void Add(uint32_t sum, uint32_t word, const WideUnits& value) const {
    const uint32_t address = AddressOf(sum, word);
    AddAll(address + word_bytes_, AddLow(address, value));
  }

  // Takes what is in this thread's idle sum to sum `to`. One warp of the block, and no other at the
  // time.
  __device__ void MoveIdleSum(uint32_t to) {
    for (uint32_t word = 0; word < words_; ++word) {
      const int64_t value = Take(IdleSum(), word);
      if (value != 0) Add(to, word, value);
    }
  }

  // Adds sum i to that of bin `bin` in device memory, and clears it.
  __device__ void FlushSum(uint32_t i, uint64_t bin, int32_t origin, GlobalSums& totals) {
    const uint32_t shift = static_cast<uint32_t>(origin) % kWeightDigitBits;
    int32_t digit = origin >> 5;
    int64_t sum = 0;  // Of this digit.
    for (uint32_t word = 0; word < words_; ++word, ++digit) {
      const int64_t value = Take(i, word);
      sum += static_cast<uint32_t>(value << shift);
      if (sum != 0) totals.AddDigit(bin, static_cast<uint32_t>(digit), sum);
      sum = value >> (kWeightDigitBits - shift);
    }
    if (sum != 0) totals.AddDigit(bin, static_cast<uint32_t>(digit), sum);
  }

 private:
  static constexpr uint32_t kWordBytes = sizeof(uint32_t);

  // The distance from the first word of the first sum, in bytes.
  __device__ uint32_t OffsetOf(uint32_t sum, uint32_t word) const {
    return sum * sum_bytes_ + word * word_bytes_;
  }

  // Both give what was in the word; the second one 0 where nothing is added.
  __device__ static uint32_t AddAt(uint32_t address, uint32_t value) {
    uint32_t old;
    asm volatile("atom.shared.add.u32 %0, [%1], %2;"
                 : "=r"(old)
                 : "r"(address), "r"(value)
                 : "memory");
    return old;
  }

  __device__ static uint32_t AddUnlessZero(uint32_t address, uint32_t value) {
    uint32_t old = 0;
    asm volatile(
        "{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %2, 0;\n\t"
        "@p atom.shared.add.u32 %0, [%1], %2;\n\t}"
        : "+r"(old)
        : "r"(address), "r"(value)
        : "memory");
    return old;
  }

  // Adds a number to the word at `address`, and what comes of it to those above.
  __device__ void AddAll(uint32_t address, int64_t value) const {
    Carry(address + word_bytes_, AddLow(address, value));
  }

  // Adds what is left of a number to the word at `address` and to those above.
  __device__ void Carry(uint32_t address, int32_t rest) const {
    for (; rest != 0; address += word_bytes_) rest = AddLow(address, int64_t{rest});
  }

  // Takes a word of all copies.
  __device__ int64_t Take(uint32_t sum, uint32_t word) {
    uint32_t* const all = memory_ + OffsetOf(sum, word) / kWordBytes;
    int64_t value = 0;
    for (uint32_t c = 0; c < copies_; ++c) {
      uint32_t& copy = all[(c + threadIdx.x) & (copies_ - 1)];
      value += static_cast<int32_t>(copy ^ kWindowWordZero);
      copy = kWindowWordZero;
    }
    return value;
  }

  uint32_t* const memory_;
  const uint32_t count_;
  const uint32_t words_;
  const uint32_t copies_;
  const uint32_t sum_bytes_;   // From a sum to the next.
  const uint32_t word_bytes_;  // From a word to the next.
  const uint32_t own_;         // Address of this thread's copy of the first word.
};

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_HISTOGRAM_WEIGHTS_WORDS_CUH_

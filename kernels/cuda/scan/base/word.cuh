// A block leaves a value in device memory for others, who may be waiting for it, in words of 128
// bits.
//
// Each word is a piece of the value and a mark that says that it is there, and is written and read
// by one access: whoever sees the mark has the piece. No fence is needed, and no second access.
//
// Example, a 16-byte value v of two words, which are 0 to begin with:
//
//   writer:   store128(words[0], {v.low, mark}), store128(words[1], {v.high, mark})
//   reader:   load128 both until both marks are there; then {pieces} is v
#ifndef GRIDFOLD_KERNELS_CUDA_SCAN_BASE_WORD_CUH_
#define GRIDFOLD_KERNELS_CUDA_SCAN_BASE_WORD_CUH_

#include <cstdint>
#include <cstring>

#include "kernels/cuda/scan/base/arguments.h"
#include "kernels/numerics/scans/operator.h"

namespace gridfold::kernels::cuda {

// An access of 128 bits that others see whole. (PTX ISA, "ld" and "st": .b128 with .relaxed.)
__device__ inline void StoreWord(LookBackWord* word, uint64_t piece, uint64_t mark) {
  asm volatile(
      "{\n\t.reg .b128 word;\n\tmov.b128 word, {%1, %2};\n\t"
      "st.relaxed.gpu.global.b128 [%0], word;\n\t}"
      :
      : "l"(word), "l"(piece), "l"(mark)
      : "memory");
}
__device__ inline LookBackWord LoadWord(const LookBackWord* word) {
  LookBackWord loaded;
  asm volatile(
      "{\n\t.reg .b128 word;\n\tld.relaxed.gpu.global.b128 word, [%2];\n\t"
      "mov.b128 {%0, %1}, word;\n\t}"
      : "=l"(loaded.piece), "=l"(loaded.mark)
      : "l"(word)
      : "memory");
  return loaded;
}

// Loads the word if it is wanted, without a branch: several of these are under way together.
__device__ inline void LoadWordIf(bool is_wanted, const LookBackWord* word, LookBackWord& loaded) {
  asm volatile(
      "{\n\t.reg .b128 word;\n\t.reg .pred is_wanted;\n\tsetp.ne.u32 is_wanted, %3, 0;\n\t"
      "mov.b128 word, {%0, %1};\n\t@is_wanted ld.relaxed.gpu.global.b128 word, [%2];\n\t"
      "mov.b128 {%0, %1}, word;\n\t}"
      : "+l"(loaded.piece), "+l"(loaded.mark)
      : "l"(word), "r"(static_cast<uint32_t>(is_wanted))
      : "memory");
}

template <class Value>
inline constexpr int kValueWords = static_cast<int>(LookBackWordsOf(sizeof(Value)));

// Memory starts as zeros, which is no mark.
inline constexpr uint64_t kWordIsThere = 1;
inline constexpr uint64_t kWordStartsGroup = 2;

// A value of up to 4 bytes is in both halves of its piece, and both are looked at: where nobody
// needs the middle of a word, ptxas (13.0) reads its ends by accesses of their own.
template <class Value>
inline constexpr bool kIsTwiceInPiece = sizeof(Value) <= sizeof(uint32_t);
__device__ inline uint64_t SwapHalves(uint64_t piece) { return piece << 32 | piece >> 32; }

template <class Value>
__device__ void PublishValue(const GroupedValue<Value>& value, LookBackWord* words) {
  uint64_t pieces[kValueWords<Value>] = {};
  std::memcpy(pieces, &value.value, sizeof(Value));
  if (kIsTwiceInPiece<Value>) pieces[0] |= SwapHalves(pieces[0]);
  const uint64_t mark = kWordIsThere | (value.starts_group ? kWordStartsGroup : 0);
#pragma unroll
  for (int i = 0; i < kValueWords<Value>; ++i) StoreWord(words + i, pieces[i], mark);
}

// The words of a value, as they were when they were looked at.
template <class Value>
struct ValueWords {
  LookBackWord words[kValueWords<Value>] = {};
};
template <class Value>
__device__ void LookAtValue(bool is_wanted, const LookBackWord* words, ValueWords<Value>& seen) {
#pragma unroll
  for (int i = 0; i < kValueWords<Value>; ++i) LoadWordIf(is_wanted, words + i, seen.words[i]);
}

// Returns whether the value was there.
template <class Value>
__device__ bool ValueOf(const ValueWords<Value>& seen, GroupedValue<Value>& value) {
  uint64_t pieces[kValueWords<Value>];
  uint64_t marks = kWordIsThere | kWordStartsGroup;
#pragma unroll
  for (int i = 0; i < kValueWords<Value>; ++i) {
    pieces[i] = seen.words[i].piece;
    marks &= seen.words[i].mark;
  }
  if (kIsTwiceInPiece<Value> && pieces[0] != SwapHalves(pieces[0])) return false;
  std::memcpy(&value.value, pieces, sizeof(Value));
  value.starts_group = (marks & kWordStartsGroup) != 0;
  return (marks & kWordIsThere) != 0;
}

// Returns whether the value is there.
template <class Value>
__device__ bool ReadValue(const LookBackWord* words, GroupedValue<Value>& value) {
  ValueWords<Value> seen;
#pragma unroll
  for (int i = 0; i < kValueWords<Value>; ++i) seen.words[i] = LoadWord(words + i);
  return ValueOf(seen, value);
}

}  // namespace gridfold::kernels::cuda

#endif  // GRIDFOLD_KERNELS_CUDA_SCAN_BASE_WORD_CUH_

// Exact sums to words and back. For *words.cc only.
//
// A floating-point sum has its flags first, each in a word: positive infinity, negative infinity,
// anything other than -0.0. Every sum then has its limbs, in units of the smallest number of the
// format or of 1.
#ifndef GRIDFOLD_KERNELS_FOLDS_WORD_SUMS_H_
#define GRIDFOLD_KERNELS_FOLDS_WORD_SUMS_H_

#include <cstdint>
#include <iterator>

#include "kernels/folds/word_stream.h"
#include "kernels/numerics/arithmetic/wide_integer.h"
#include "kernels/numerics/sums/exact_sum.h"

namespace gridfold::kernels {

inline constexpr uint32_t kWordFlags[] = {kSawPositiveInfinity, kSawNegativeInfinity,
                                          kSawOtherThanNegativeZero};

template <class F, int kPower>
constexpr uint64_t WordsIn(const ExactSum<F, kPower>&) {
  return std::size(kWordFlags) + kWordsOfLimb * ExactSum<F, kPower>::kLimbs;
}
constexpr uint64_t WordsIn(Int128) { return kWordsOfLimb * 2; }
constexpr uint64_t WordsIn(Uint128) { return kWordsOfLimb * 2; }
constexpr uint64_t WordsIn(const Uint192&) { return kWordsOfLimb * 3; }

template <class F, int kPower>
void WriteWords(WordWriter& writer, const ExactSum<F, kPower>& sum) {
  constexpr int kLimbs = ExactSum<F, kPower>::kLimbs;
  for (const uint32_t flag : kWordFlags) writer.Flag((sum.flags() & flag) != 0);
  writer.Number(LimbMagnitude::OfSigned(sum.limbs(), kLimbs), kLimbs);
}
inline void WriteWords(WordWriter& writer, Int128 sum) {
  const uint64_t limbs[] = {static_cast<uint64_t>(sum), static_cast<uint64_t>(sum >> kLimbBits)};
  writer.Number(LimbMagnitude::OfSigned(limbs, 2), 2);
}
inline void WriteWords(WordWriter& writer, Uint128 sum) {
  const uint64_t limbs[] = {static_cast<uint64_t>(sum), static_cast<uint64_t>(sum >> kLimbBits)};
  writer.Number(LimbMagnitude::OfUnsigned(limbs, 2), 2);
}
inline void WriteWords(WordWriter& writer, const Uint192& sum) {
  writer.Number(LimbMagnitude::OfUnsigned(sum.limbs, 3), 3);
}

template <class F, int kPower>
void ReadWords(WordReader& reader, ExactSum<F, kPower>& sum) {
  sum = {};
  uint32_t flags = 0;
  for (const uint32_t flag : kWordFlags) flags |= reader.Flags() > 0 ? flag : 0;
  reader.SignedNumber(sum.mutable_limbs(), ExactSum<F, kPower>::kLimbs);
  // The number of the finite parts is dropped where others are not.
  sum.AddFlags(flags);
}
inline void ReadWords(WordReader& reader, Int128& sum) {
  uint64_t limbs[2];
  reader.SignedNumber(limbs, 2);
  sum = static_cast<Int128>((Uint128{limbs[1]} << kLimbBits) | limbs[0]);
}
inline void ReadWords(WordReader& reader, Uint128& sum) {
  uint64_t limbs[2];
  reader.UnsignedNumber(limbs, 2);
  sum = (Uint128{limbs[1]} << kLimbBits) | limbs[0];
}
inline void ReadWords(WordReader& reader, Uint192& sum) { reader.UnsignedNumber(sum.limbs, 3); }

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_FOLDS_WORD_SUMS_H_

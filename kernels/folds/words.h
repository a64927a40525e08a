// Words: the additive form of accumulators, for engines that can add integers and nothing else
// (MPI_SUM, ncclSum, NumPy's +, SQL's SUM). The words of any number of parts, added place by place
// as plain 64-bit integers, are the words of the whole.
//
//   words = *WordsOf(accumulator, limits);             // On each part: equally many everywhere.
//   MPI_Allreduce(MPI_IN_PLACE, words.data(), words.size(), MPI_INT64_T, MPI_SUM, ...);
//   whole = *AccumulatorOfWords(words, limits);        // The bytes of a merge of all parts.
//
// Each number of a part is cut into pieces of 32 bits, each in a word of its own, so that
// kWordPartsMax parts cannot overflow a word. What a flag says is counted. client/core/WORDS.md has
// the layout, which carries a version.
//
// Statistics that are no sums have no words: smallest and largest elements, their indices and
// range, and products. Bitwise and, or, exclusive or have: their bits are flags.
//
// No words do harm: those that no data have led to are an error. Thread-safe: no state.
#ifndef GRIDFOLD_KERNELS_FOLDS_WORDS_H_
#define GRIDFOLD_KERNELS_FOLDS_WORDS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernels/accumulators/accumulator.h"

namespace gridfold::kernels {

// More parts might overflow a word.
inline constexpr int64_t kWordPartsMax = int64_t{1} << 31;

// How many words the accumulator has: as many as each that agrees with it. Takes time in proportion
// to the accumulator's header. Errors: those of MergedOperation; INVALID_ARGUMENT that names
// "statistics[i]" where the statistic is no sum, or "accumulator" where it is of found keys.
absl::StatusOr<uint64_t> WordCountOf(absl::string_view accumulator,
                                     const AccumulatorLimits& limits);

// The words of the accumulator, which count as one part. Errors: those of WordCountOf; those of
// PlanMerge and RunMerge for one accumulator.
absl::StatusOr<std::vector<int64_t>> WordsOf(absl::string_view accumulator,
                                             const AccumulatorLimits& limits);

// The accumulator of the parts whose words were added: what merging their accumulators gives. Takes
// memory in proportion to the words. Errors: INVALID_ARGUMENT that names "words" for words of
// another kind or version, of parts that do not agree, of none or more than kWordPartsMax parts,
// beyond the limits, or that no data have led to.
absl::StatusOr<std::string> AccumulatorOfWords(std::span<const int64_t> words,
                                               const AccumulatorLimits& limits);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_FOLDS_WORDS_H_

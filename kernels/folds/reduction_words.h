// The words of a reduction's groups, behind the opening that words.cc writes. For words.cc only.
#ifndef GRIDFOLD_KERNELS_FOLDS_REDUCTION_WORDS_H_
#define GRIDFOLD_KERNELS_FOLDS_REDUCTION_WORDS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kernels/contract/reduction.h"
#include "kernels/folds/word_stream.h"

namespace gridfold::kernels {

// INVALID_ARGUMENT that names statistics[i], where one is no sum.
absl::Status CheckIsSum(const ReductionPlan& plan);

// How many words all groups have. Requires CheckIsSum, as all below.
uint64_t GroupWordCount(const ReductionPlan& plan);

// What stands before the groups of an accumulator of `plan`, as a whole accumulator's bytes.
std::string OpeningOf(const ReductionPlan& plan);

// `body` is that of an accumulator of `plan`, and sound.
void WriteGroupWords(const ReductionPlan& plan, absl::string_view body, WordWriter& writer);

// The accumulator of the groups that `reader` has; anything where it is not ok() at the end.
std::string ReadGroupWords(const ReductionPlan& plan, WordReader& reader);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_FOLDS_REDUCTION_WORDS_H_

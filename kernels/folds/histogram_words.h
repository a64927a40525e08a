// The words of a histogram's counts, behind the opening that words.cc writes. For words.cc only.
#ifndef GRIDFOLD_KERNELS_FOLDS_HISTOGRAM_WORDS_H_
#define GRIDFOLD_KERNELS_FOLDS_HISTOGRAM_WORDS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernels/contract/histogram.h"
#include "kernels/folds/word_stream.h"

namespace gridfold::kernels {

// How many words the number of samples, all channels and all bins have.
uint64_t BinWordCount(const HistogramPlan& plan);

// What stands before the samples in an accumulator of `plan`, as a whole accumulator's bytes.
std::string OpeningOf(const HistogramPlan& plan);

// `body` is that of an accumulator of `plan`, and sound.
void WriteBinWords(const HistogramPlan& plan, absl::string_view body, WordWriter& writer);

// The accumulator of the bins that `reader` has; anything where it is not ok() at the end. Requires
// that it has all their words.
absl::StatusOr<std::string> ReadBinWords(const HistogramPlan& plan, WordReader& reader);

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_FOLDS_HISTOGRAM_WORDS_H_

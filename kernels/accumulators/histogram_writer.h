// Writes histograms as bytes (bytes.h has the layout). For histogram_*.cc only.
#ifndef GRIDFOLD_KERNELS_ACCUMULATORS_HISTOGRAM_WRITER_H_
#define GRIDFOLD_KERNELS_ACCUMULATORS_HISTOGRAM_WRITER_H_

#include <concepts>
#include <cstdint>

#include "kernels/accumulators/bytes.h"
#include "kernels/accumulators/histogram_accumulator_header.h"
#include "kernels/accumulators/histogram_value.h"
#include "kernels/contract/histogram.h"
#include "kernels/numerics/arithmetic/limbs.h"
#include "kernels/numerics/sums/exact_sum.h"

namespace gridfold::kernels {

// Whether a bin with this value is answered as one without samples is.
template <class Value>
bool IsZero(const Value& value) {
  return value == Value{};
}
template <std::floating_point F>
bool IsZero(const ExactSum<F, 1>& sum) {
  return sum.is_finite() && SignificantLimbs(sum.limbs(), sum.kLimbs) == 0;
}

// Writes bins in increasing order; those that are left out are 0.
template <class Value>
class BinWriter {
 public:
  explicit BinWriter(AccumulatorWriter& writer) : writer_(writer) {}

  void Write(uint64_t bin, const Value& value) {
    if (IsZero(value)) return;
    WriteRunUpTo(bin);
    WriteValue(writer_, value);
    ++next_bin_;
  }

  void Finish(uint64_t bin_count) { WriteRunUpTo(bin_count); }

 private:
  void WriteRunUpTo(uint64_t bin) {
    if (bin == next_bin_) return;
    writer_.Byte(kRun<Value>);
    writer_.Integer(bin - next_bin_);
    next_bin_ = bin;
  }

  AccumulatorWriter& writer_;
  uint64_t next_bin_ = 0;
};

// Writes what stands before the bins.
inline void WriteOpening(const HistogramPlan& plan, uint64_t sample_count,
                         const HistogramResult& result, AccumulatorWriter& writer) {
  WriteHistogramHeader(plan, result.bins, writer);
  writer.Integer(sample_count);
  for (const HistogramCounts& channel : result.channels) {
    writer.Integer(channel.underflow_count);
    writer.Integer(channel.overflow_count);
    writer.Integer(channel.nan_count);
  }
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_ACCUMULATORS_HISTOGRAM_WRITER_H_

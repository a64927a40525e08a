// Exact prefix sums of a few elements in a row, one after the other: what one thread does.
#ifndef GRIDFOLD_KERNELS_NUMERICS_SCANS_EXACT_RUN_H_
#define GRIDFOLD_KERNELS_NUMERICS_SCANS_EXACT_RUN_H_

#include "kernels/numerics/scans/exact_prefix.h"
#include "kernels/types/host_device.h"

namespace gridfold::kernels {

// The elements of a run, at most 2^kExactRunBits.
inline constexpr int kExactRunBits = 12;

template <FloatingElement T>
GRIDFOLD_HD inline BitSpan SpanOf(const T* items, int count) {
  BitSpan span;
  for (int i = 0; i < count; ++i) span.Include(ToCompute(items[i]));
  return span;
}

// sum += the elements.
template <FloatingElement T>
GRIDFOLD_HD inline void AddRun(const T* items, int count, bool ignore_nan, PrefixSum<T>& sum) {
  const PrefixWindow<T> window(SpanOf(items, count), kExactRunBits, ignore_nan);
  if (window.fits()) {
    WindowSum total;
    for (int i = 0; i < count; ++i) window.Take(total, items[i]);
    sum.Merge(window.SumOf(total, false));
  } else {
    const PrefixLimbs<T> limbs(ignore_nan, nullptr);
    for (int i = 0; i < count; ++i) limbs.Take(sum, items[i]);
  }
}

// Calls store(i, prefix of type Out) for each element in order, a prefix being `sum` and the
// elements before i and, unless `exclusive`, element i; then sum += the elements.
template <FloatingElement Out, FloatingElement T, class Store>
GRIDFOLD_HD inline void ScanRun(const T* items, int count, bool ignore_nan, bool exclusive,
                                PrefixSum<T>& sum, Store store) {
  const auto scan = [&](const auto& terms) {
    auto running = terms.Carry();
    for (int i = 0; i < count; ++i) {
      if (exclusive) store(i, terms.template Round<Out>(running, true));
      terms.Take(running, items[i]);
      if (!exclusive) store(i, terms.template Round<Out>(running, true));
    }
    sum = terms.SumOf(running, true);
  };
  const PrefixWindow<T> window(SpanOf(items, count), kExactRunBits, ignore_nan, &sum);
  if (window.fits()) {
    scan(window);
  } else {
    scan(PrefixLimbs<T>(ignore_nan, &sum));
  }
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_SCANS_EXACT_RUN_H_

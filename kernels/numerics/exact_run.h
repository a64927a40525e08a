// Exact prefix sums of a few elements in a row, one after the other: what one thread does.
#ifndef GRIDFOLD_KERNELS_NUMERICS_EXACT_RUN_H_
#define GRIDFOLD_KERNELS_NUMERICS_EXACT_RUN_H_

#include "kernels/numerics/exact_prefix.h"
#include "kernels/numerics/host_device.h"

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
  const PrefixWindow<T> window(SpanOf(items, count), kExactRunBits, PrefixSum<T>{});
  if (window.fits()) {
    WindowSum total;
    for (int i = 0; i < count; ++i) {
      total = WindowSumOperator::Combine(total, window.Lift(items[i], ignore_nan));
    }
    window.AddTo(sum, total);
  } else {
    for (int i = 0; i < count; ++i) sum.Add(Addend(items[i], ignore_nan));
  }
}

// Calls store(i, prefix of type Out) for each element in order, a prefix being `sum` and the
// elements before i and, unless `exclusive`, element i; then sum += the elements.
template <FloatingElement Out, FloatingElement T, class Store>
GRIDFOLD_HD inline void ScanRun(const T* items, int count, bool ignore_nan, bool exclusive,
                                PrefixSum<T>& sum, Store store) {
  const PrefixWindow<T> window(SpanOf(items, count), kExactRunBits, sum);
  if (window.fits()) {
    WindowSum running;
    for (int i = 0; i < count; ++i) {
      const WindowSum before = running;
      running = WindowSumOperator::Combine(running, window.Lift(items[i], ignore_nan));
      store(i, window.template Round<Out>(exclusive ? before : running, true, sum));
    }
    window.AddTo(sum, running);
  } else {
    for (int i = 0; i < count; ++i) {
      if (exclusive) store(i, RoundOnce<Out>(sum));
      sum.Add(Addend(items[i], ignore_nan));
      if (!exclusive) store(i, RoundOnce<Out>(sum));
    }
  }
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_NUMERICS_EXACT_RUN_H_

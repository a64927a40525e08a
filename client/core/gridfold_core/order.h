/* Order statistics of each group. Groups are not columns: transpose the array for these. Zeros
 * of either sign are equal. */
#ifndef GRIDFOLD_CORE_ORDER_H_
#define GRIDFOLD_CORE_ORDER_H_

#include <stdint.h>

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t gridfold_quantile_method;
enum {
  GRIDFOLD_QUANTILE_LINEAR = 0,
  GRIDFOLD_QUANTILE_LOWER = 1,
  GRIDFOLD_QUANTILE_HIGHER = 2,
  GRIDFOLD_QUANTILE_NEAREST = 3,
  GRIDFOLD_QUANTILE_MIDPOINT = 4,
  GRIDFOLD_QUANTILE_MEAN = 5 /* As NumPy's median. */
};

/* Quantiles as NumPy defines them, and elements by their place among the sorted ones. */
typedef struct gridfold_quantile_spec {
  const double* quantiles; /* Each from 0 to 1. */
  uint64_t quantile_count;
  const uint64_t* ranks; /* Each smaller than every group. */
  uint64_t rank_count;   /* With the quantiles at least 1, and at most 256. */
  gridfold_quantile_method method;
  gridfold_grouping grouping;
  gridfold_nan_policy nan_policy;
} gridfold_quantile_spec;

/* Writes 8 bytes for each quantile, then for each rank, and each group: that of quantile i and
 * group g at i * (groups) + g. They are double with the methods LINEAR, MIDPOINT and MEAN; else,
 * and of ranks, elements: int64_t of signed integers, uint64_t of unsigned ones, double of
 * floating-point numbers. `value_count` is their number. */
GRIDFOLD_API gridfold_status gridfold_quantiles(gridfold_engine* engine,
                                                const gridfold_array* array,
                                                const gridfold_quantile_spec* spec, void* values,
                                                uint64_t value_count);

/* Quantiles of elements that have weights: the smallest element for which the weights of all
 * elements up to it are a part of at least q of all. Sums of weights are exact. Weights are as many
 * as elements, of any type, finite, not negative, and not all 0 in any group. The spec has no
 * ranks, and its method is not used: values are elements. */
GRIDFOLD_API gridfold_status gridfold_weighted_quantiles(gridfold_engine* engine,
                                                         const gridfold_array* array,
                                                         const gridfold_array* weights,
                                                         const gridfold_quantile_spec* spec,
                                                         void* values, uint64_t value_count);

typedef struct gridfold_top_spec {
  uint64_t count; /* Of each group: at least 1, and no more than the smallest one has. */
  int32_t
      smallest; /* Whether the smallest elements, from the smallest up; else the largest ones. */
  gridfold_grouping grouping;
  gridfold_nan_policy nan_policy; /* PROPAGATE: NaNs come first. */
} gridfold_top_spec;

/* Writes `count` elements of each group in order, as values of 8 bytes, and where in the group they
 * stand. Equal ones are in the order of these indices. `value_count` is the number of either. */
GRIDFOLD_API gridfold_status gridfold_select_top(gridfold_engine* engine,
                                                 const gridfold_array* array,
                                                 const gridfold_top_spec* spec, void* values,
                                                 uint64_t* indices, uint64_t value_count);

#ifdef __cplusplus
}
#endif

#endif /* GRIDFOLD_CORE_ORDER_H_ */

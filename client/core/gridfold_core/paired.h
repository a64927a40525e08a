/* Statistics of two columns. */
#ifndef GRIDFOLD_CORE_PAIRED_H_
#define GRIDFOLD_CORE_PAIRED_H_

#include <stdint.h>

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t gridfold_paired_statistic;
enum {
  GRIDFOLD_PAIRED_DOT = 1,         /* Of two columns: sum of w * x * y. */
  GRIDFOLD_PAIRED_COVARIANCE = 2,  /* Of two columns. */
  GRIDFOLD_PAIRED_CORRELATION = 3, /* Of two columns; NaN where one is constant. */
  GRIDFOLD_PAIRED_MEAN = 4,        /* Of each column: sum of w * x over that of w. */
  GRIDFOLD_PAIRED_VARIANCE = 5     /* Of each column. */
};

/* What covariances are divided by, W being the sum of the weights: FREQUENCY: W * (W - ddof);
 * RELIABILITY: W * W - ddof * (sum of squared weights). */
typedef int32_t gridfold_weight_kind;
enum { GRIDFOLD_WEIGHTS_FREQUENCY = 0, GRIDFOLD_WEIGHTS_RELIABILITY = 1 };

typedef struct gridfold_paired_spec {
  const gridfold_paired_statistic* statistics; /* At least 1, none twice. */
  uint64_t statistic_count;
  uint32_t delta_degrees_of_freedom;
  gridfold_weight_kind weight_kind;
  gridfold_nan_policy nan_policy;           /* IGNORE: observations with a NaN are left out. */
  gridfold_overflow_policy overflow_policy; /* Of dot products of integers. */
} gridfold_paired_spec;

/* Arrays of one element type. The columns are x and y, of one dimension both; or without y those of
 * x, at most 64 where it has two dimensions. Weights are one for each element of a column, finite
 * and not negative. */
typedef struct gridfold_columns {
  const gridfold_array* x;
  const gridfold_array* y;       /* May be null. */
  const gridfold_array* weights; /* Null: each observation weighs 1. */
} gridfold_columns;

/* Writes the values of each statistic, in the order of `spec`, one statistic behind the other, as 8
 * bytes each: of a statistic of two columns one value where there is y, else the square matrix of
 * all columns, row by row; of one of each column as many as columns. They are double, but for dot
 * products of integers: int64_t or uint64_t, as sums are. `value_count` is the number of all. */
GRIDFOLD_API gridfold_status gridfold_relate(gridfold_engine* engine,
                                             const gridfold_columns* columns,
                                             const gridfold_paired_spec* spec, void* values,
                                             uint64_t value_count);

#ifdef __cplusplus
}
#endif

#endif /* GRIDFOLD_CORE_PAIRED_H_ */

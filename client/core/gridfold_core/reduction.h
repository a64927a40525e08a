/* Reductions: statistics of each group. */
#ifndef GRIDFOLD_CORE_REDUCTION_H_
#define GRIDFOLD_CORE_REDUCTION_H_

#include <stdint.h>

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t gridfold_statistic;
enum {
  GRIDFOLD_COUNT = 1,
  GRIDFOLD_SUM = 2,
  GRIDFOLD_PRODUCT = 3, /* Accumulators: of integers only. */
  GRIDFOLD_MIN = 4,
  GRIDFOLD_MAX = 5,
  GRIDFOLD_ARGMIN = 6,
  GRIDFOLD_ARGMAX = 7,
  GRIDFOLD_MEAN = 8,
  GRIDFOLD_VARIANCE = 9,
  GRIDFOLD_STANDARD_DEVIATION = 10,
  GRIDFOLD_L1_NORM = 11,
  GRIDFOLD_L2_NORM = 12,
  GRIDFOLD_NONZERO_COUNT = 13,
  GRIDFOLD_NAN_COUNT = 14,
  GRIDFOLD_INFINITY_COUNT = 15,
  GRIDFOLD_ALL = 16,
  GRIDFOLD_ANY = 17,
  GRIDFOLD_BITWISE_AND = 18, /* Bitwise: of integers only. */
  GRIDFOLD_BITWISE_OR = 19,
  GRIDFOLD_BITWISE_XOR = 20,
  GRIDFOLD_RANGE = 21,
  GRIDFOLD_ROOT_MEAN_SQUARE = 22,
  GRIDFOLD_STANDARD_ERROR = 23
};

typedef struct gridfold_reduction_spec {
  const gridfold_statistic* statistics; /* At least one, none twice. */
  uint64_t statistic_count;
  gridfold_grouping grouping;
  gridfold_nan_policy nan_policy;
  gridfold_overflow_policy overflow_policy;
  uint32_t delta_degrees_of_freedom; /* Of variance, standard deviation and standard error. */
  uint64_t first_index;              /* Of each group's first element, in argmin and argmax. */
} gridfold_reduction_spec;

typedef int32_t gridfold_value_kind;
enum {
  GRIDFOLD_VALUE_INT64 = 0,
  GRIDFOLD_VALUE_UINT64 = 1,
  GRIDFOLD_VALUE_DOUBLE = 2,
  GRIDFOLD_VALUE_BOOL = 3 /* A uint64_t of 0 or 1. */
};

/* The values of one statistic, 8 bytes for each group. */
typedef struct gridfold_column {
  gridfold_statistic statistic;
  gridfold_value_kind kind;
  const void* values;
  uint64_t value_count; /* 0 where a partial answer has no value for some group. */
} gridfold_column;

typedef struct gridfold_reduction gridfold_reduction;

GRIDFOLD_API gridfold_status gridfold_reduce(gridfold_engine* engine, const gridfold_array* array,
                                             const gridfold_reduction_spec* spec,
                                             gridfold_reduction** result);

/* Column i is of statistics[i]. */
GRIDFOLD_API gridfold_status gridfold_reduction_column(const gridfold_reduction* result, uint64_t i,
                                                       gridfold_column* column);
GRIDFOLD_API gridfold_status gridfold_reduction_column_count(const gridfold_reduction* result,
                                                             uint64_t* column_count);
GRIDFOLD_API void gridfold_reduction_free(gridfold_reduction* result);

#ifdef __cplusplus
}
#endif

#endif /* GRIDFOLD_CORE_REDUCTION_H_ */

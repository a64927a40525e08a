/* Groups by key: statistics and quantiles of the values of each key, or of each bin. */
#ifndef GRIDFOLD_CORE_KEYED_H_
#define GRIDFOLD_CORE_KEYED_H_

#include <stdint.h>

#include "base.h"
#include "histogram.h"
#include "order.h"
#include "reduction.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t gridfold_key_groups_kind;
enum {
  GRIDFOLD_FOUND_KEYS = 0, /* Each key that occurs. */
  GRIDFOLD_KEY_RANGE = 1,  /* Each integer of a range; any other key is an error. */
  GRIDFOLD_KEY_BINS = 2    /* Each bin of the keys. */
};

typedef struct gridfold_keyed_spec {
  gridfold_reduction_spec reduction; /* Of the values; its grouping is not used. */
  gridfold_key_groups_kind groups;
  int64_t first_key;           /* Of a range. */
  uint64_t first_unsigned_key; /* Where not 0, in place of first_key. */
  uint64_t key_count;          /* Of a range; of found keys the most, 0: GRIDFOLD_GROUPS_MAX. */
  const gridfold_bins* bins;   /* One, or one for each axis. */
  uint64_t bins_count;
  gridfold_out_of_range_policy out_of_range_policy; /* Of bins. */
} gridfold_keyed_spec;

/* Arrays of one dimension and equally many elements. */
typedef struct gridfold_keyed_arrays {
  const gridfold_array* keys;
  const gridfold_array* y_keys; /* Where not null, of bins in two dimensions. */
  const gridfold_array* values;
} gridfold_keyed_arrays;

/* The groups of an answer: increasing keys, or all keys of a range or bins in row-major order. */
typedef struct gridfold_groups {
  uint64_t group_count;
  const uint64_t* counts;       /* Elements of each. */
  const void* keys;             /* Of found keys, 8 bytes each; else null. */
  gridfold_value_kind key_kind; /* GRIDFOLD_VALUE_INT64 or GRIDFOLD_VALUE_UINT64. */
  uint64_t bins_count;          /* Of bins: the number of dimensions; else 0. */
  uint64_t underflow_count;     /* Elements that are in no bin. */
  uint64_t overflow_count;
  uint64_t nan_count;
} gridfold_groups;

typedef struct gridfold_keyed gridfold_keyed;

GRIDFOLD_API gridfold_status gridfold_reduce_by_key(gridfold_engine* engine,
                                                    const gridfold_keyed_arrays* arrays,
                                                    const gridfold_keyed_spec* spec,
                                                    gridfold_keyed** result);
/* The same of bins in up to 8 dimensions: coordinates[i] has those of dimension i, which are of any
 * type. The spec's groups are GRIDFOLD_KEY_BINS, with bins for all dimensions or for each. */
GRIDFOLD_API gridfold_status gridfold_reduce_by_bins(
    gridfold_engine* engine, const gridfold_array* const* coordinates, uint64_t coordinate_count,
    const gridfold_array* values, const gridfold_keyed_spec* spec, gridfold_keyed** result);
/* Statistics, which may be none, and exact quantiles of the values of each group, as
 * gridfold_quantiles defines them; NaN policy and method are for all of them. `coordinates` are one
 * array of keys, or with bins the coordinates of each dimension. */
GRIDFOLD_API gridfold_status gridfold_quantiles_by_key(
    gridfold_engine* engine, const gridfold_array* const* coordinates, uint64_t coordinate_count,
    const gridfold_array* values, const gridfold_keyed_spec* spec, const double* quantiles,
    uint64_t quantile_count, gridfold_quantile_method method, gridfold_keyed** result);
GRIDFOLD_API gridfold_status gridfold_keyed_groups(const gridfold_keyed* result,
                                                   gridfold_groups* groups);
/* Of a group without elements, where a statistic needs some: 0, NaN or, of indices, UINT64_MAX. */
GRIDFOLD_API gridfold_status gridfold_keyed_column(const gridfold_keyed* result, uint64_t i,
                                                   gridfold_column* column);
/* The values of quantile i, with `statistic` 0; those of a group without elements are NaN or, of
 * integers, 0. */
GRIDFOLD_API gridfold_status gridfold_keyed_quantile(const gridfold_keyed* result, uint64_t i,
                                                     gridfold_column* column);
GRIDFOLD_API gridfold_status gridfold_keyed_bins(const gridfold_keyed* result, uint64_t i,
                                                 gridfold_bins* bins);
GRIDFOLD_API void gridfold_keyed_free(gridfold_keyed* result);

#ifdef __cplusplus
}
#endif

#endif /* GRIDFOLD_CORE_KEYED_H_ */

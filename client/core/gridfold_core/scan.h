/* Scans: running and moving results of each group, in the array's shape. */
#ifndef GRIDFOLD_CORE_SCAN_H_
#define GRIDFOLD_CORE_SCAN_H_

#include <stdint.h>

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t gridfold_scan_operation;
enum {
  GRIDFOLD_SCAN_SUM = 0,
  GRIDFOLD_SCAN_PRODUCT = 1,
  GRIDFOLD_SCAN_MIN = 2,
  GRIDFOLD_SCAN_MAX = 3,
  GRIDFOLD_SCAN_MEAN = 4 /* Exact, rounded once; of no exclusive scan. */
};

typedef struct gridfold_scan_spec {
  gridfold_scan_operation operation;
  int32_t exclusive; /* Whether an element takes no part in its own result. */
  int32_t reverse;   /* Whether groups are scanned from their ends. */
  int32_t exact;     /* Sums of floating-point elements: whether each is exact, rounded once. */
  gridfold_element_type output_type; /* 0: 64 bits for sums, products and means of integers, else
                                      * the array's own. */
  gridfold_grouping grouping;
  gridfold_nan_policy nan_policy;
  gridfold_overflow_policy overflow_policy;
  uint64_t window;    /* Sums and means: of the last so many elements only; 0: of all so far. */
  uint64_t min_count; /* With a window, and of means: NaN where fewer elements count. */
} gridfold_scan_spec;

/* The type that the results of the scan have. */
GRIDFOLD_API gridfold_status gridfold_scan_type(const gridfold_array* array,
                                                const gridfold_scan_spec* spec,
                                                gridfold_element_type* type);

/* `output` has room for exactly `output_bytes`, one result for each element, and none of the
 * array's own bytes. */
GRIDFOLD_API gridfold_status gridfold_scan(gridfold_engine* engine, const gridfold_array* array,
                                           const gridfold_scan_spec* spec, void* output,
                                           uint64_t output_bytes);

#ifdef __cplusplus
}
#endif

#endif /* GRIDFOLD_CORE_SCAN_H_ */

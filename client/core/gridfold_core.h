/* gridfold_core: reductions, scans and histograms of arrays in memory, and accumulators that can be
 * merged anywhere, in this process and without a server. The numbers are those of a server, bit for
 * bit; the bytes of accumulators are those that servers merge.
 *
 *   gridfold_engine* engine;
 *   gridfold_engine_create(0, &engine);
 *   gridfold_array x = {.data = samples, .element_type = GRIDFOLD_FLOAT32, .dimension_count = 1,
 *                       .shape = {count}};
 *   gridfold_statistic mean = GRIDFOLD_MEAN;
 *   gridfold_reduction_spec spec = {.statistics = &mean, .statistic_count = 1};
 *   gridfold_reduction* result;
 *   if (gridfold_reduce(engine, &x, &spec, &result) != GRIDFOLD_OK) puts(gridfold_last_message());
 *
 * Errors: every call that can fail returns a status; gridfold_last_message and gridfold_last_field
 * say more. A call that fails hands out nothing, and leaves its results as they were, but for the
 * memory of a scan's results. No exception leaves the library.
 *
 * Handles: what a call hands out is freed by the function of its type, once; freeing null does
 * nothing. Pointers that a call gets from a handle are valid as long as the handle.
 *
 * Threads: all calls may be made from any threads at the same time, also with the same handles, as
 * long as none of them frees one of these. In a process that `fork` has made of one whose engines
 * had computed, handles and new engines work as well, each call in the thread that makes it, alone.
 *
 * Structs: all fields 0 is the default, but where a field says otherwise. Arrays are read in place
 * while the call runs, at any address. Elements are in the byte order of the machine.
 *
 * Versions: functions keep their meaning and structs their layout within a version of the library's
 * name (SOVERSION); symbols are versioned. */
#ifndef GRIDFOLD_CORE_H_
#define GRIDFOLD_CORE_H_

#include <stdint.h>

#if defined(__GNUC__)
#define GRIDFOLD_API __attribute__((visibility("default")))
#else
#define GRIDFOLD_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* --- Errors. */

typedef int32_t gridfold_status;
enum {
  GRIDFOLD_OK = 0,
  GRIDFOLD_INVALID_ARGUMENT = 1, /* An argument, or what the array holds, has no answer. */
  GRIDFOLD_OUT_OF_RANGE = 2,     /* An integer result is outside its type. */
  GRIDFOLD_TOO_LARGE = 3,        /* More groups, bins or channels than GRIDFOLD_..._MAX. */
  GRIDFOLD_NO_MEMORY = 4,
  GRIDFOLD_INTERNAL = 5 /* A fault of the library. */
};

/* What went wrong in the last call of this thread that failed, and which argument was at fault, as
 * "statistics[1]": empty where none was. Valid until the next call of this thread fails. */
GRIDFOLD_API const char* gridfold_last_message(void);
GRIDFOLD_API const char* gridfold_last_field(void);

/* The version of the library, as "0.1.0". */
GRIDFOLD_API const char* gridfold_core_version(void);

/* --- Engines: threads that compute, shared by all calls with the engine. */

typedef struct gridfold_engine gridfold_engine;

/* `threads` 0: one for each processor. Results do not depend on their number. */
GRIDFOLD_API gridfold_status gridfold_engine_create(int32_t threads, gridfold_engine** engine);
GRIDFOLD_API void gridfold_engine_free(gridfold_engine* engine);

/* --- Arrays and groups. */

/* The numbers of element types and statistics are those of the wire; 0 is none. */
typedef int32_t gridfold_element_type;
enum {
  GRIDFOLD_INT8 = 1,
  GRIDFOLD_INT16 = 2,
  GRIDFOLD_INT32 = 3,
  GRIDFOLD_INT64 = 4,
  GRIDFOLD_UINT8 = 5,
  GRIDFOLD_UINT16 = 6,
  GRIDFOLD_UINT32 = 7,
  GRIDFOLD_UINT64 = 8,
  GRIDFOLD_FLOAT16 = 9,
  GRIDFOLD_BFLOAT16 = 10,
  GRIDFOLD_FLOAT32 = 11,
  GRIDFOLD_FLOAT64 = 12
};

typedef struct gridfold_array {
  const void* data; /* In row-major order; may be null where there are no elements. */
  gridfold_element_type element_type;
  uint32_t dimension_count; /* 1 or 2. */
  uint64_t shape[2];        /* The number of elements; or rows and columns. */
} gridfold_array;

typedef int32_t gridfold_grouping_kind;
enum {
  GRIDFOLD_WHOLE = 0,
  GRIDFOLD_AXIS0 = 1,   /* A group is a column. */
  GRIDFOLD_AXIS1 = 2,   /* A group is a row. */
  GRIDFOLD_SEGMENTS = 3 /* Group g has the elements from offsets[g] to offsets[g + 1]. */
};

/* The elements that are reduced or scanned together. */
typedef struct gridfold_grouping {
  gridfold_grouping_kind kind;
  const uint64_t* offsets; /* Segments only: from 0 to the number of elements, not decreasing. */
  uint64_t offset_count;   /* One more than segments. */
} gridfold_grouping;

#define GRIDFOLD_GROUPS_MAX (UINT64_C(1) << 26)
#define GRIDFOLD_BINS_MAX (UINT64_C(1) << 26)
#define GRIDFOLD_CHANNELS_MAX 65536

typedef int32_t gridfold_nan_policy;
enum { GRIDFOLD_NAN_PROPAGATE = 0, GRIDFOLD_NAN_IGNORE = 1 };
typedef int32_t gridfold_overflow_policy; /* Of integer sums and products. */
enum { GRIDFOLD_OVERFLOW_ERROR = 0, GRIDFOLD_OVERFLOW_WRAP = 1 };

/* --- Reductions: statistics of each group. */

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

/* --- Scans: running and moving results of each group, in the array's shape. */

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

/* --- Order statistics of each group. Groups are not columns: transpose the array for these. Zeros
 * of either sign are equal. */

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

/* --- Statistics of two columns. */

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

/* --- Histograms. */

typedef int32_t gridfold_bins_kind;
enum {
  GRIDFOLD_EVEN_BINS = 0,
  GRIDFOLD_EDGE_BINS = 1,
  GRIDFOLD_LOGARITHMIC_BINS = 2,
  GRIDFOLD_INTEGER_BINS = 3 /* One for each integer. */
};

/* Bins of a channel or of an axis: half-open between their edges, the last one closed. */
typedef struct gridfold_bins {
  gridfold_bins_kind kind;
  int32_t has_bounds; /* Even bins: 0 takes the range of the finite samples. */
  uint64_t bin_count; /* All but edge bins. */
  double lower_bound; /* Even and logarithmic bins. */
  double upper_bound;
  const double* edges;           /* Edge bins: increasing. */
  uint64_t edge_count;           /* One more than bins. */
  int64_t first_value;           /* Integer bins: the integer of bin 0. */
  uint64_t first_unsigned_value; /* Where not 0, in place of first_value. */
} gridfold_bins;

typedef int32_t gridfold_out_of_range_policy;
enum { GRIDFOLD_OUT_OF_RANGE_DROP = 0, GRIDFOLD_OUT_OF_RANGE_CLAMP = 1 };

typedef struct gridfold_histogram_spec {
  const gridfold_bins* bins; /* One for all channels or axes, or one for each. */
  uint64_t bins_count;
  uint32_t channel_count; /* Channels that alternate in the samples; 0 is 1. */
  gridfold_out_of_range_policy out_of_range_policy;
  int32_t sparse; /* Whether the answer leaves out bins that are 0. */
  const double* quantiles;
  uint64_t quantile_count;
} gridfold_histogram_spec;

/* Arrays of one dimension and equally many elements. */
typedef struct gridfold_samples {
  const gridfold_array* x;
  const gridfold_array* y;       /* Where not null, of a histogram in two dimensions. */
  const gridfold_array* weights; /* Where not null, bins have sums of weights. */
} gridfold_samples;

/* The counts of a channel, or of both axes: those of bin (i, j) at i * (bins of y) + j. */
typedef struct gridfold_channel {
  const uint64_t* counts;      /* Null with weights. */
  const double* weight_sums;   /* Null without weights. */
  uint64_t value_count;        /* Of either. */
  const uint64_t* bin_indices; /* Sparse: the bin of each value, increasing; else null. */
  uint64_t underflow_count;
  uint64_t overflow_count;
  uint64_t nan_count;
  const double* quantiles; /* The values of the quantiles that were asked for. */
  uint64_t quantile_count;
} gridfold_channel;

typedef struct gridfold_histogram gridfold_histogram;

GRIDFOLD_API gridfold_status gridfold_count(gridfold_engine* engine,
                                            const gridfold_samples* samples,
                                            const gridfold_histogram_spec* spec,
                                            gridfold_histogram** result);

/* One channel in two dimensions. */
GRIDFOLD_API gridfold_status gridfold_histogram_channel_count(const gridfold_histogram* result,
                                                              uint64_t* channel_count);
GRIDFOLD_API gridfold_status gridfold_histogram_channel(const gridfold_histogram* result,
                                                        uint64_t i, gridfold_channel* channel);
/* The bins of channel i, or of axis i of two: kind, bounds, and edges of all but integer bins. */
GRIDFOLD_API gridfold_status gridfold_histogram_bins(const gridfold_histogram* result, uint64_t i,
                                                     gridfold_bins* bins);
GRIDFOLD_API void gridfold_histogram_free(gridfold_histogram* result);

/* --- Groups by key: statistics and quantiles of the values of each key, or of each bin. */

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

/* --- Accumulators: what is known of a part, before anything is rounded. Merging them in any order
 * or tree gives the bits of one call for the whole. Values; never changed. */

typedef struct gridfold_accumulator gridfold_accumulator;

GRIDFOLD_API gridfold_status gridfold_accumulate_reduction(gridfold_engine* engine,
                                                           const gridfold_array* array,
                                                           const gridfold_reduction_spec* spec,
                                                           gridfold_accumulator** accumulator);
/* Parts can be merged where their bins are the same: give even bins bounds. */
GRIDFOLD_API gridfold_status gridfold_accumulate_histogram(gridfold_engine* engine,
                                                           const gridfold_samples* samples,
                                                           const gridfold_histogram_spec* spec,
                                                           gridfold_accumulator** accumulator);

/* Folds at least one accumulator, all of one operation. */
GRIDFOLD_API gridfold_status gridfold_accumulator_merge(const gridfold_accumulator* const* parts,
                                                        uint64_t part_count,
                                                        gridfold_accumulator** accumulator);

/* What remains of `minuend` where at least one accumulator that was merged into it is taken out: to
 * the bit that of the other parts, however often parts come and go. For sums and counts, what is
 * made of them, and histograms. GRIDFOLD_INVALID_ARGUMENT names "minuend" where a statistic has no
 * such form (minima, maxima, their indices, ranges, products, bitwise and, or, exclusive or), and
 * "subtrahends" where what is subtracted was never in it, or where it cannot be told whether a NaN
 * or an infinity remains. A sum that is 0 is 0.0 unless all elements of the minuend are -0.0. */
GRIDFOLD_API gridfold_status gridfold_accumulator_subtract(
    const gridfold_accumulator* minuend, const gridfold_accumulator* const* subtrahends,
    uint64_t subtrahend_count, gridfold_accumulator** accumulator);

/* From bytes of MergeAccumulators or of gridfold_accumulator_bytes, and to them. Bytes that no data
 * could have led to are refused; other forged bytes cannot be told. Takes memory in proportion to
 * the bytes and to the bins that they claim, GRIDFOLD_BINS_MAX at most. */
GRIDFOLD_API gridfold_status gridfold_accumulator_parse(const void* bytes, uint64_t byte_count,
                                                        gridfold_accumulator** accumulator);
GRIDFOLD_API gridfold_status gridfold_accumulator_bytes(const gridfold_accumulator* accumulator,
                                                        const void** bytes, uint64_t* byte_count);

typedef struct gridfold_accumulator_description {
  int32_t is_histogram;
  gridfold_element_type element_type;
  uint64_t element_count; /* In all parts and groups; 2^64 - 1 where there are more. */
} gridfold_accumulator_description;

GRIDFOLD_API gridfold_status gridfold_accumulator_describe(
    const gridfold_accumulator* accumulator, gridfold_accumulator_description* description);

/* The answer for all parts. `partial`: a column has no values, in place of an error, where some
 * group has none, or an integer result is outside its type. */
GRIDFOLD_API gridfold_status gridfold_accumulator_reduction(const gridfold_accumulator* accumulator,
                                                            int32_t partial,
                                                            gridfold_reduction** result);
GRIDFOLD_API gridfold_status gridfold_accumulator_histogram(const gridfold_accumulator* accumulator,
                                                            gridfold_histogram** result);

/* Words: an additive form, for what can add 64-bit integers and nothing else (MPI_SUM, SUM of SQL).
 * Words of up to 2^31 parts, added place by place, are those of the merged accumulator. All
 * accumulators that can be merged have equally many. WORDS.md has the layout. Minima, maxima, their
 * indices, ranges and products have no words. */
GRIDFOLD_API gridfold_status
gridfold_accumulator_word_count(const gridfold_accumulator* accumulator, uint64_t* word_count);
/* Requires room for exactly as many words. */
GRIDFOLD_API gridfold_status gridfold_accumulator_to_words(const gridfold_accumulator* accumulator,
                                                           int64_t* words, uint64_t word_count);
GRIDFOLD_API gridfold_status gridfold_accumulator_from_words(const int64_t* words,
                                                             uint64_t word_count,
                                                             gridfold_accumulator** accumulator);
GRIDFOLD_API void gridfold_accumulator_free(gridfold_accumulator* accumulator);

#ifdef __cplusplus
}
#endif

#endif /* GRIDFOLD_CORE_H_ */

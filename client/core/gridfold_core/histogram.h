/* Histograms. */
#ifndef GRIDFOLD_CORE_HISTOGRAM_H_
#define GRIDFOLD_CORE_HISTOGRAM_H_

#include <stdint.h>

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif

#endif /* GRIDFOLD_CORE_HISTOGRAM_H_ */

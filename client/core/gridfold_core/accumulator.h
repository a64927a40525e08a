/* Accumulators: what is known of a part, before anything is rounded. Merging them in any order
 * or tree gives the bits of one call for the whole. Values; never changed. */
#ifndef GRIDFOLD_CORE_ACCUMULATOR_H_
#define GRIDFOLD_CORE_ACCUMULATOR_H_

#include <stdint.h>

#include "base.h"
#include "histogram.h"
#include "reduction.h"

#ifdef __cplusplus
extern "C" {
#endif

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

#endif /* GRIDFOLD_CORE_ACCUMULATOR_H_ */

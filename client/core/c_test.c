/* The header and the library from C99: an array in two parts, by merge and by words, against its
 * whole, and each kind of answer. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gridfold_core.h"

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, gridfold_last_message()); \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

static gridfold_engine* engine;

static double number(const gridfold_reduction* result, uint64_t i) {
  gridfold_column column;
  CHECK(gridfold_reduction_column(result, i, &column) == GRIDFOLD_OK);
  CHECK(column.kind == GRIDFOLD_VALUE_DOUBLE && column.value_count == 1);
  return *(const double*)column.values;
}

static void test_parts(void) {
  static const float samples[] = {1e30f, 1.0f, 2.5f, -1e30f, 0.5f};
  const gridfold_array parts[] = {{samples, GRIDFOLD_FLOAT32, 1, {2}},
                                  {samples + 2, GRIDFOLD_FLOAT32, 1, {3}},
                                  {samples, GRIDFOLD_FLOAT32, 1, {5}}};
  const gridfold_statistic statistics[] = {GRIDFOLD_SUM, GRIDFOLD_MEAN};
  const gridfold_reduction_spec spec = {.statistics = statistics, .statistic_count = 2};
  gridfold_accumulator* accumulators[3];
  for (int i = 0; i < 3; ++i) {
    CHECK(gridfold_accumulate_reduction(engine, &parts[i], &spec, &accumulators[i]) == GRIDFOLD_OK);
  }
  gridfold_accumulator* merged;
  CHECK(gridfold_accumulator_merge((const gridfold_accumulator* const*)accumulators, 2, &merged) ==
        GRIDFOLD_OK);
  const void* bytes[2];
  uint64_t sizes[2];
  CHECK(gridfold_accumulator_bytes(merged, &bytes[0], &sizes[0]) == GRIDFOLD_OK);
  CHECK(gridfold_accumulator_bytes(accumulators[2], &bytes[1], &sizes[1]) == GRIDFOLD_OK);
  CHECK(sizes[0] == sizes[1] && memcmp(bytes[0], bytes[1], sizes[0]) == 0);

  gridfold_reduction* result;
  CHECK(gridfold_accumulator_reduction(merged, 0, &result) == GRIDFOLD_OK);
  CHECK(number(result, 0) == 4.0 && number(result, 1) == 0.8);
  gridfold_reduction_free(result);

  uint64_t count;
  CHECK(gridfold_accumulator_word_count(merged, &count) == GRIDFOLD_OK);
  int64_t* words = calloc(2 * count, sizeof(int64_t));
  CHECK(words != NULL);
  for (int i = 0; i < 2; ++i) {
    CHECK(gridfold_accumulator_to_words(accumulators[i], words + i * count, count) == GRIDFOLD_OK);
  }
  for (uint64_t i = 0; i < count; ++i) words[i] += words[count + i];
  gridfold_accumulator* added;
  CHECK(gridfold_accumulator_from_words(words, count, &added) == GRIDFOLD_OK);
  CHECK(gridfold_accumulator_bytes(added, &bytes[0], &sizes[0]) == GRIDFOLD_OK);
  CHECK(sizes[0] == sizes[1] && memcmp(bytes[0], bytes[1], sizes[0]) == 0);
  free(words);
  gridfold_accumulator_free(added);
  gridfold_accumulator_free(merged);
  for (int i = 0; i < 3; ++i) gridfold_accumulator_free(accumulators[i]);
}

static void test_scan(void) {
  static const int16_t elements[] = {1, -2, 30000, 30000};
  const gridfold_array array = {elements, GRIDFOLD_INT16, 1, {4}};
  const gridfold_scan_spec spec = {.exclusive = 1};
  gridfold_element_type type;
  int64_t sums[4];
  CHECK(gridfold_scan_type(&array, &spec, &type) == GRIDFOLD_OK && type == GRIDFOLD_INT64);
  CHECK(gridfold_scan(engine, &array, &spec, sums, sizeof(sums)) == GRIDFOLD_OK);
  CHECK(sums[0] == 0 && sums[1] == 1 && sums[2] == -1 && sums[3] == 29999);
}

static void test_histogram(void) {
  static const double samples[] = {0.5, 1.5, 1.75, 2.0, 9.0, -1.0};
  const gridfold_array x = {samples, GRIDFOLD_FLOAT64, 1, {6}};
  const gridfold_samples all = {.x = &x};
  const gridfold_bins bins = {
      .kind = GRIDFOLD_EVEN_BINS, .has_bounds = 1, .bin_count = 2, .upper_bound = 2.0};
  const gridfold_histogram_spec spec = {.bins = &bins, .bins_count = 1};
  gridfold_histogram* result;
  gridfold_channel channel;
  gridfold_bins found;
  CHECK(gridfold_count(engine, &all, &spec, &result) == GRIDFOLD_OK);
  CHECK(gridfold_histogram_channel(result, 0, &channel) == GRIDFOLD_OK);
  CHECK(channel.value_count == 2 && channel.counts[0] == 1 && channel.counts[1] == 3);
  CHECK(channel.underflow_count == 1 && channel.overflow_count == 1 && channel.nan_count == 0);
  CHECK(gridfold_histogram_bins(result, 0, &found) == GRIDFOLD_OK);
  CHECK(found.edge_count == 3 && found.edges[1] == 1.0);
  gridfold_histogram_free(result);
}

static void test_error(void) {
  gridfold_accumulator* accumulator = NULL;
  CHECK(gridfold_accumulator_parse("GFAC", 4, &accumulator) == GRIDFOLD_INVALID_ARGUMENT);
  CHECK(accumulator == NULL && strstr(gridfold_last_message(), "cut short") != NULL);
}

int main(void) {
  CHECK(gridfold_engine_create(2, &engine) == GRIDFOLD_OK);
  test_parts();
  test_scan();
  test_histogram();
  test_error();
  gridfold_engine_free(engine);
  printf("gridfold_core %s\n", gridfold_core_version());
  return 0;
}

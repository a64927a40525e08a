/* The mean of two parts of an array, each accumulated by itself, as one call for the whole has it.
 */
#include <gridfold_core.h>
#include <stdio.h>

int main(void) {
  static const float samples[] = {1e30f, 1.0f, 2.5f, -1e30f, 0.5f};
  const gridfold_array parts[] = {
      {samples, GRIDFOLD_FLOAT32, 1, {2}},
      {samples + 2, GRIDFOLD_FLOAT32, 1, {3}},
  };
  const gridfold_statistic mean = GRIDFOLD_MEAN;
  const gridfold_reduction_spec spec = {.statistics = &mean, .statistic_count = 1};
  gridfold_engine* engine = NULL;
  gridfold_accumulator* accumulators[2] = {NULL, NULL};
  gridfold_accumulator* whole = NULL;
  gridfold_reduction* result = NULL;
  gridfold_column column = {0};

  int ok = gridfold_engine_create(0, &engine) == GRIDFOLD_OK;
  for (int i = 0; ok && i < 2; ++i) {
    ok = gridfold_accumulate_reduction(engine, &parts[i], &spec, &accumulators[i]) == GRIDFOLD_OK;
  }
  ok = ok &&
       gridfold_accumulator_merge((const gridfold_accumulator* const*)accumulators, 2, &whole) ==
           GRIDFOLD_OK &&
       gridfold_accumulator_reduction(whole, 0, &result) == GRIDFOLD_OK &&
       gridfold_reduction_column(result, 0, &column) == GRIDFOLD_OK;
  if (ok) {
    printf("mean of both parts: %g\n", *(const double*)column.values); /* 0.8 */
  } else {
    fprintf(stderr, "%s\n", gridfold_last_message());
  }

  gridfold_reduction_free(result);
  gridfold_accumulator_free(whole);
  for (int i = 0; i < 2; ++i) gridfold_accumulator_free(accumulators[i]);
  gridfold_engine_free(engine);
  return ok ? 0 : 1;
}

/* gridfold_core: reductions, scans, histograms, groups by key, order statistics and relations of
 * arrays in memory, and accumulators that can be merged anywhere, in this process and without a
 * server. The numbers are those of a server, bit for bit; the bytes of accumulators are those that
 * servers merge.
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

#include "gridfold_core/accumulator.h"
#include "gridfold_core/base.h"
#include "gridfold_core/histogram.h"
#include "gridfold_core/keyed.h"
#include "gridfold_core/order.h"
#include "gridfold_core/paired.h"
#include "gridfold_core/reduction.h"
#include "gridfold_core/scan.h"

#endif /* GRIDFOLD_CORE_H_ */

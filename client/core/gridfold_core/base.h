/* What all calls share: errors, engines, arrays and their groups. */
#ifndef GRIDFOLD_CORE_BASE_H_
#define GRIDFOLD_CORE_BASE_H_

#include <stdint.h>

#if defined(__GNUC__)
#define GRIDFOLD_API __attribute__((visibility("default")))
#else
#define GRIDFOLD_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Errors. */

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

/* Engines: threads that compute, shared by all calls with the engine. */

typedef struct gridfold_engine gridfold_engine;

/* `threads` 0: one for each processor. Results do not depend on their number. */
GRIDFOLD_API gridfold_status gridfold_engine_create(int32_t threads, gridfold_engine** engine);
GRIDFOLD_API void gridfold_engine_free(gridfold_engine* engine);

/* Arrays and groups. */

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

#ifdef __cplusplus
}
#endif

#endif /* GRIDFOLD_CORE_BASE_H_ */

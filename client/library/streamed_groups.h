// Groups of arrays that go to the server in a stream, which brings one row after the other: a row
// is everything but the first dimension.
#ifndef GRIDFOLD_CLIENT_LIBRARY_STREAMED_GROUPS_H_
#define GRIDFOLD_CLIENT_LIBRARY_STREAMED_GROUPS_H_

#include <cstdint>

#include "gridfold/array_view.h"
#include "gridfold/reduction.h"
#include "gridfold/stream.h"

namespace gridfold::client {

// What the first message of the array's stream says of it.
StreamedArray ToStreamed(const ArrayView& array);

// Whether a server makes these groups of rows as they come: the dimensions before some one are
// reduced and those from it on are kept, or the reverse, where extents of 1 are either. Requires a
// shape of the array's elements. False for axes that are none, which are left to the server's
// judgement.
bool CanStreamGroups(const ArrayView& array, const ReductionOptions& options);

// How many groups go on from row to row, so that a server keeps the state of each; 0 where a group
// ends with its row, and of segments.
uint64_t GroupsAcrossRows(const ArrayView& array, const Grouping& grouping);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_STREAMED_GROUPS_H_

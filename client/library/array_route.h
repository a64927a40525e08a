// The choice of the way by which an array travels.
#ifndef GRIDFOLD_CLIENT_LIBRARY_ARRAY_ROUTE_H_
#define GRIDFOLD_CLIENT_LIBRARY_ARRAY_ROUTE_H_

#include <cstddef>
#include <cstdint>

#include "gridfold/array_transport.h"

namespace gridfold::client {

// Sizes at which another way is taken. Measured with one caller's sums of float32 on 16 processors
// and an H100, by `transport_benchmark --only crossovers`
// (client/transport_benchmark/BENCHMARKS.md).

// Up to here a request carries the array: every server takes such a message, and what else the
// client would have to ask takes as long as the array.
inline constexpr uint64_t kInlineBytesMax = uint64_t{48} << 10;
// From here on a stream is faster than a request, as the server computes while the rest is under
// way: by a tenth.
inline constexpr uint64_t kStreamBytesMin = uint64_t{8} << 20;
// From here on parts are worth several connections and the merge; none is smaller than a half. 2
// MiB take 1.56 ms in two parts, 1.76 ms in a request; 1 MiB 1.26 and 1.10.
inline constexpr uint64_t kStreamsBytesMin = uint64_t{2} << 20;
// From here on shared memory is worth the copy into it: 128 KiB take 0.25 ms, in a request 0.35. Up
// to kRegionPartBytes it is taken by clients that call again (RegionPool::IsForSmallArrays).
inline constexpr uint64_t kRegionBytesMin = uint64_t{128} << 10;
// What travels through shared memory at a time: small enough for a processor's cache, large enough
// for a call.
inline constexpr uint64_t kRegionPartBytes = uint64_t{4} << 20;
// Connections of one caller, unless more are asked for: as many as eight callers have, who together
// fill the link.
inline constexpr uint32_t kStreamCountMax = 8;
// Of ClientOptions::stream_count.
inline constexpr int kStreamCountCeiling = 64;

// Of this machine; at least 1.
uint32_t ProcessorCount();

// How many connections carry a large array fastest, of a client with so many processors.
uint32_t StreamsOfMachine(uint32_t processor_count);

// What the choice depends on.
struct RouteQuestion {
  ArrayTransport wanted = ArrayTransport::kAuto;
  uint64_t size_bytes = 0;   // Of all arrays of the request.
  bool fits_message = true;  // The request, and its answer.
  bool can_stream = false;   // In one stream.
  bool can_split = false;    // In parts whose answers make the whole's, for as many calls.
  bool can_share = false;    // Through shared memory, if there is any.
};

// Whether the answer depends on whether there is shared memory: it is then worth finding out.
bool MayShare(const RouteQuestion& question);

// Never kAuto.
ArrayTransport ChooseRoute(const RouteQuestion& question);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_ARRAY_ROUTE_H_

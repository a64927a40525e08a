// Every bound of the server that an operator may move (each names its option), with the sums that
// follow from these and from the others, which are in fixed_limits.h.
//
// Memory that the defaults let the server take at most, beside its own code, with one device; with
// several, lanes, what they run, resident arrays and what waits take as many times as much (waiting
// requests for that no more than an eighth of memory_bytes_max, unless those of one are more):
//
//   one lane, device     input 256 MiB + output 256 MiB + offsets 2^24 * 8 B = 128 MiB, and scratch
//                        for the operation that needs most (kernels/cuda/lane/layout.h)
//   one lane, pinned     a staging ring of 16 MiB (kernels/cuda/lane/staging_ring.h) and 64 KiB for
//                        small answers (kernels/cuda/lane/lane.cc)
//   4 lanes              device 2.5 GiB + 4 * scratch, pinned 64.25 MiB; the CPU engine's keep
//                        16 MiB of host memory each (kernels/cpu/lane/lane.cc)
//   resident arrays      resident_bytes_max: of the device, from the start; of the host as they are
//                        made where the engine is the CPU's                       =    1 GiB
//   their descriptions   array_count_max * 1 KiB at most                          =   16 MiB
//   chunks of arrays     those of WriteArray are waiting requests, 4 lanes * 16 MiB that are being
//                        written, and the transport's; those of ReadArray queued_bytes_max = 1 GiB
//   waiting requests     queued_bytes_max of messages                             =    1 GiB
//                        Arrays of kDetachedBytesMin and more stay in the transport's buffers, and
//                        count there. Other bulk data takes what it takes in the message. Offsets
//                        of segments, decoded and in plans, take up to 16 times that: of one
//                        request 256 MiB, of a batch 1 GiB
//   running requests     4 lanes * (request, or what the CPU engine joins of it, 256 MiB + answer
//                        256 MiB). The request is released before the answer is encoded, which
//                        takes it once more unless it is a scan's                 =    2 GiB
//   answers              answer_bytes_max of those that have yet to be taken: an eighth of
//                        memory_bytes_max, at most. One that is larger than the part that is open
//                        to all has that to itself                                =    1 GiB
//   plans                of what waits and runs; the largest batch's: batch_operations_max * 1 KiB
//                                                                                 =    4 MiB each
//   accumulators         4 lanes * (states, their bytes, the same once more while the answer
//                        is read off them; each no larger than an answer)         =    3 GiB
//   streams              what has arrived and waits, with the states of what was folded:
//                        queued_bytes_max                                         =    1 GiB
//                        Past that each may hold one message more, of which nothing can be computed
//                        yet, and the values of rows, no more than an answer: stream_count_max *
//                        512 MiB, where all callers mean ill
//   waiting jobs         queued_jobs_max * 1 KiB, and as much for a tenant each   =    2 MiB
//   idle tenants         kIdleTenantsMax * (1 + devices) * 512 B                  =  256 KiB
//   transport            transport_bytes_max: messages not yet complete, and what requests that
//                        wait and run, and streams, have left in its buffers      =    5 GiB
//   regions              memory of callers, where they are allowed: up to region_bytes_max of it
//                        mapped and, on a GPU, locked; all of it has its owner's memory, or it is
//                        refused (server/regions/shared_mapping.h)                =   16 GiB
//   connections          connection_count_max * 20 KiB; calls that have begun and sent no message
//                        take 13 KiB each, where callers mean ill               =  320 MiB
//   headers, calls       of callers who mean ill: server/transport/connection_watch.h ends them
//                        where a connection has too many, or the process more than
//                        memory_bytes_max
//   reflection           kReflectionCallsMax threads, 512 KiB each                =    8 MiB
//   tokens               kTokenFileBytesMax, decoded: 4 MiB; and the same of the file before, as
//                        long as calls use it                                     =    8 MiB
//   metrics              1 MiB of counters; one scrape is made at a time, some 320 KiB of text that
//                        is held three times, and kept for up to 32 slow readers  =   12 MiB
//   logs                 kLogBufferBytes that wait and as many that are being written; the same of
//                        the audit log                                            =   10 MiB
#ifndef GRIDFOLD_SERVER_BASE_LIMITS_H_
#define GRIDFOLD_SERVER_BASE_LIMITS_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "kernels/contract/engine.h"
#include "server/base/fixed_limits.h"

namespace gridfold::server {

// By name; the others have kTenantWeightDefault.
using TenantWeights = std::map<std::string, uint64_t>;

struct Limits {
  uint64_t message_bytes_max = 256 * kMiB;                // --max-message-bytes
  uint64_t bin_count_max = uint64_t{1} << 24;             // --max-bins
  uint64_t group_count_max = uint64_t{1} << 24;           // --max-groups
  uint32_t lane_count = 4;                                // --lanes
  uint64_t queued_jobs_max = 1024;                        // --max-queued-jobs
  uint64_t queued_bytes_max = 1 * kGiB;                   // --max-queued-bytes
  uint64_t answer_bytes_max = kAnswerBytesDefaultMax;     // --max-answer-bytes
  uint64_t resident_bytes_max = 1 * kGiB;                 // --resident-bytes
  uint64_t tenant_resident_bytes_max = 0;                 // --tenant-resident-bytes; 0: all of them
  uint64_t dealt_bytes_min = kDealtBytesMin;              // --dealt-bytes; 0: nothing is dealt
  uint64_t array_count_max = uint64_t{1} << 14;           // --max-arrays
  bool regions_allowed = false;                           // --allow-regions
  uint64_t region_count_max = 64;                         // --max-regions
  uint64_t region_bytes_max = 16 * kGiB;                  // --max-region-bytes
  uint64_t stream_count_max = 256;                        // --max-streams
  uint32_t connection_count_max = 16384;                  // --max-connections
  std::chrono::milliseconds send_timeout = kSendTimeout;  // --send-timeout
  // --stream-idle-timeout, --connection-idle-timeout; 0: as long as they like.
  std::chrono::milliseconds stream_idle_timeout = kStreamIdleTimeout;
  std::chrono::milliseconds connection_idle_timeout = kConnectionIdleTimeout;
  uint64_t batch_operations_max = 4096;  // --max-batch-operations
  // --max-memory-bytes; kMemoryTenths of what the process may have unless an operator says less.
  uint64_t memory_bytes_max = std::numeric_limits<uint64_t>::max();
  // Engines that are used, each with so many lanes and so many resident bytes: what --cuda-devices
  // comes to. Known when the engines are.
  uint32_t engine_count = 1;

  // These limits for such devices, where nobody says how much memory of theirs resident arrays may
  // take. Devices of one kind have the same: what the one with the least has.
  Limits ForDevices(const std::vector<kernels::Engine*>& engines) const {
    Limits limits = *this;
    uint64_t free_bytes = std::numeric_limits<uint64_t>::max();
    for (const kernels::Engine* const engine : engines) {
      free_bytes = std::min(free_bytes, engine->device().free_bytes);
    }
    // An engine without a GPU does not say, since the memory is not for it alone.
    if (free_bytes == 0 || engines.empty()) return limits;
    limits.resident_bytes_max =
        std::min(free_bytes / kResidentMemoryPart / kResidentMemoryUnit * kResidentMemoryUnit,
                 kResidentBytesCeiling);
    return limits;
  }

  constexpr uint32_t lane_count_of_all() const { return lane_count * engine_count; }
  constexpr uint64_t resident_bytes_of_all() const { return resident_bytes_max * engine_count; }

  constexpr uint64_t tenant_bytes_max() const {
    return tenant_resident_bytes_max == 0 ? resident_bytes_of_all() : tenant_resident_bytes_max;
  }

  constexpr uint64_t array_chunk_bytes_max() const {
    return std::min(kArrayChunkBytesMax, message_bytes_max - kAnswerOverheadBytes);
  }

  constexpr uint64_t array_page_size_max() const {
    return std::min(kArrayPageSizeMax,
                    (message_bytes_max - kAnswerOverheadBytes) / kArrayDescriptionBytesMax);
  }

  // The largest job that passes validation: no lane refuses what was planned, but for operations on
  // resident input of more than kResidentInputBytesMax that need scratch in proportion.
  constexpr kernels::LaneOptions lane() const {
    return {.input_bytes_max = message_bytes_max,
            .output_bytes_max = message_bytes_max,
            .bin_count_max = bin_count_max,
            .group_count_max = group_count_max,
            .resident_input_bytes_max =
                std::min(std::max(resident_bytes_max, regions_allowed ? region_bytes_max : 0),
                         kResidentInputBytesMax)};
  }

  // What the transport takes of a message, to be refused with the reason; it ends what is larger
  // without one.
  constexpr uint64_t received_bytes_max() const {
    return std::min(2 * message_bytes_max, kMessageBytesCeiling);
  }

  // Requests that the transport is still receiving, as much as the queue and the lanes could take;
  // as much again of those that wait and run, whose arrays stay in its buffers; and what has come
  // in streams. Short of this it would slow down, or end, calls that the other bounds admit.
  constexpr uint64_t transport_bytes_max() const {
    return 2 * (queued_bytes_max + lane_count_of_all() * message_bytes_max) + queued_bytes_max;
  }

  constexpr uint64_t decoded_bytes_max() const {
    return message_bytes_max * kDecodedBytesPerMessageByteMax;
  }
};

// The room for answers of a process that may have so much memory.
constexpr uint64_t AnswerBytesOf(uint64_t memory_bytes_max) {
  return std::clamp(memory_bytes_max / kAnswerMemoryPart, kAnswerBytesFloor,
                    kAnswerBytesDefaultMax);
}

static_assert(Limits{}.message_bytes_max <= kMessageBytesCeiling);
static_assert(kMemoryBytesFloor / kAnswerMemoryPart >= kAnswerBytesFloor);
static_assert(Limits{}.message_bytes_max <= Limits{}.queued_bytes_max,
              "every request that may be sent may also wait");
static_assert(Limits{}.message_bytes_max <= Limits{}.answer_bytes_max / 8 * 5,
              "two of the largest answers may be on their way, and others");
static_assert(kAnswerBytesFloor / kAnswerSmallPart >= kSmallAnswerBytes,
              "a small answer has room among small ones");
static_assert(Limits{}.bin_count_max * sizeof(uint64_t) + kAnswerOverheadBytes <=
                  Limits{}.message_bytes_max,
              "the counts of the largest histogram fit in an answer");
static_assert(Limits{}.group_count_max * sizeof(uint64_t) + kAnswerOverheadBytes <=
                  Limits{}.message_bytes_max,
              "a statistic of the most groups fits in an answer");
static_assert(kChannelCountMax * kChannelOverheadBytes <= Limits{}.message_bytes_max);
static_assert(kAnswerOverheadBytes < kMessageBytesFloor);
static_assert(Limits{}.batch_operations_max * kBatchResultBytes + kAnswerOverheadBytes <=
                  Limits{}.message_bytes_max,
              "the errors of the largest batch fit in an answer");
static_assert(kEngineCountMax * kLaneCountCeiling * kMessageBytesCeiling < uint64_t{1} << 46,
              "sums of limits stay far from the end of 64 bits");
static_assert(kArrayChunkBytesDefault <= kArrayChunkBytesMax &&
              kArrayChunkBytesMax <= Limits{}.message_bytes_max - kAnswerOverheadBytes);
static_assert(kArrayPageSizeDefault * kArrayDescriptionBytesMax + kAnswerOverheadBytes <=
                  kMessageBytesFloor,
              "a page of arrays fits in any answer");
static_assert(kQueuedJobsCeiling * uint64_t{kJobCostMax.count()} < uint64_t{1} << 62);
static_assert(kRetryDelayMin <= kRetryDelay && kRetryDelay <= kRetryDelayMax);
static_assert(kArrayIdleExpiry <= kArrayIdleExpiryCeiling);
static_assert(kGracePeriod <= kGracePeriodCeiling);
static_assert(kJobBatchedArrayBytesMax <= kJobBatchBytesMax);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_BASE_LIMITS_H_

// Bounds of the server that no option moves, and the ends of what options may say. limits.h has the
// others, and the sums that follow from all of them.
#ifndef GRIDFOLD_SERVER_BASE_FIXED_LIMITS_H_
#define GRIDFOLD_SERVER_BASE_FIXED_LIMITS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "kernels/types/scan_operation.h"

namespace gridfold::server {

inline constexpr uint64_t kKiB = uint64_t{1} << 10;
inline constexpr uint64_t kMiB = uint64_t{1} << 20;
inline constexpr uint64_t kGiB = uint64_t{1} << 30;

// A Protobuf message is at most 2 GiB - 1 bytes, whatever an operator asks for.
inline constexpr uint64_t kMessageBytesCeiling = 2 * kGiB - 1;
// Below this even the answers that tell what the server is would not fit.
inline constexpr uint64_t kMessageBytesFloor = 64 * kKiB;

// What an answer takes beside its values: execution statistics, tags and lengths.
inline constexpr uint64_t kAnswerOverheadBytes = 4 * kKiB;
// The same for each channel of a histogram: three counts of up to 11 bytes, tags and lengths.
inline constexpr uint64_t kChannelOverheadBytes = 128;

// Channels of a histogram. Each costs planning and answering some 300 bytes whatever its bins are,
// so an empty array of very many channels would be an answer out of all proportion to its request.
inline constexpr uint64_t kChannelCountMax = uint64_t{1} << 16;

// What one answer of a batch takes beside its values: tags, lengths, or an error with its details.
inline constexpr uint64_t kBatchResultBytes = 1 * kKiB;

// What a decoded request may take in memory for each byte that the message limit allows. Fields
// other than array data grow when they are decoded: an offset of 1 byte to 8, an empty
// bin specification of 2 bytes to some 50.
inline constexpr uint64_t kDecodedBytesPerMessageByteMax = 2;

// Names of arrays and regions, and of tenants.
inline constexpr uint64_t kArrayNameBytesMax = 128;
inline constexpr uint64_t kTenantNameBytesMax = 64;
// What the description of an array takes in an answer: its name, and less than that once more.
inline constexpr uint64_t kArrayDescriptionBytesMax = 2 * kArrayNameBytesMax;
// Data of one message of WriteArray or ReadArray, and what ReadArray sends unless it is told.
inline constexpr uint64_t kArrayChunkBytesMax = 16 * kMiB;
inline constexpr uint64_t kArrayChunkBytesDefault = 2 * kMiB;
inline constexpr uint64_t kArrayPageSizeMax = 1000;
inline constexpr uint64_t kArrayPageSizeDefault = 100;
// How long an array is kept that nobody uses, and the longest that a caller may ask for.
inline constexpr std::chrono::seconds kArrayIdleExpiry = std::chrono::hours(1);
inline constexpr std::chrono::seconds kArrayIdleExpiryCeiling = std::chrono::hours(24 * 30);
// How often expired arrays and regions are looked for.
inline constexpr std::chrono::milliseconds kSweepInterval = std::chrono::seconds(1);
// The name of a shared-memory object after "/gridfold-".
inline constexpr uint64_t kObjectNameBytesMax = 200;
// Lanes have scratch for every operation on so much resident input; see kernels::LaneOptions.
inline constexpr uint64_t kResidentInputBytesMax = 1 * kGiB;

// What a stream that computes may have waiting while a job of it runs: enough for two large
// messages.
inline constexpr uint64_t kStreamPendingBytes = 16 * kMiB;
// Batches of a histogram are of at least so many times the bytes of its counters, which every batch
// costs, where that is less than half of what may wait.
inline constexpr uint64_t kStreamBatchesPerCounters = 2;

// Elements, with what goes beside them, of which those that a mask selects are copied at a time.
inline constexpr uint64_t kSelectedElementsMax = uint64_t{1} << 20;
// Input, or results, of a batch of a streamed scan, where it has room for more than one part after
// which a scan can continue (kernels::kScanCarryElements).
inline constexpr uint64_t kStreamScanBatchBytes = 4 * kMiB;
inline constexpr uint64_t kStreamCountCeiling = uint64_t{1} << 16;
inline constexpr uint64_t kMemoryBytesFloor = 64 * kMiB;
inline constexpr uint64_t kMemoryBytesCeiling = uint64_t{1} << 50;
inline constexpr uint32_t kConnectionCountCeiling = uint32_t{1} << 20;

inline constexpr uint32_t kLaneCountCeiling = 256;
// A lane without a job looks for one so long before its thread sleeps, since to wake a thread takes
// as long as a small job: only where there are so many processors for each lane.
inline constexpr std::chrono::microseconds kLaneSpin{200};
inline constexpr uint32_t kProcessorsPerSpinningLane = 3;
inline constexpr uint32_t kEngineCountMax = 64;
inline constexpr uint64_t kResidentBytesCeiling = uint64_t{1} << 50;
// Looking for expired arrays takes time in proportion to their number.
inline constexpr uint64_t kArrayCountCeiling = uint64_t{1} << 18;
// Each holds a file open.
inline constexpr uint64_t kRegionCountCeiling = uint64_t{1} << 12;
inline constexpr uint64_t kRegionBytesCeiling = uint64_t{1} << 50;
inline constexpr uint64_t kBinCountCeiling = uint64_t{1} << 32;
inline constexpr uint64_t kGroupCountCeiling = uint64_t{1} << 32;
inline constexpr uint64_t kQueuedJobsCeiling = uint64_t{1} << 20;
inline constexpr uint64_t kBatchOperationsCeiling = uint64_t{1} << 16;

// Calls at the same time on one connection; a client that wants more waits. One that has begun more
// before it has acknowledged that bound is closed.
inline constexpr int kConcurrentStreamsMax = 1024;
// What a call takes at most that has begun and sent no message.
inline constexpr uint64_t kIdleCallBytes = 13 * kKiB;
// Calls of gRPC's reflection at the same time, each of which takes a thread for as long as it
// lasts.
inline constexpr int kReflectionCallsMax = 16;
// Metadata of one request: enough for a token and a trace context. What is larger is refused; what
// is larger than the second ends in gRPC's hands, which closes the connection.
inline constexpr int kMetadataBytesMax = 16 * 1024;
inline constexpr int kMetadataBytesCeiling = 256 * 1024;

// Answers that are made or on their way (server/scheduling/answer_room.h): these parts of the room
// are kept for small answers, whose room is given back without a lock, and for tenants and
// connections with little of it.
inline constexpr uint64_t kAnswerSmallPart = 16;
inline constexpr uint64_t kAnswerTenantsPart = 4;
inline constexpr uint64_t kAnswerConnectionsPart = 16;
inline constexpr uint64_t kSmallAnswerBytes = 64 * kKiB;
inline constexpr uint64_t kAnswerBytesFloor = 1 * kMiB;
// The room where nobody sets it: this part of memory_bytes_max, and no more than the second.
inline constexpr uint64_t kAnswerMemoryPart = 8;
inline constexpr uint64_t kAnswerBytesDefaultMax = 1 * kGiB;
inline constexpr uint64_t kAnswerBytesCeiling = uint64_t{1} << 50;
// A call whose answer is not taken within the time of --send-timeout, and the time that it takes at
// this rate, is ended.
inline constexpr std::chrono::milliseconds kSendTimeout = std::chrono::seconds(60);
inline constexpr std::chrono::milliseconds kSendTimeoutCeiling = std::chrono::hours(24);
inline constexpr uint64_t kAnswerBytesPerSecondMin = 1 * kMiB;
// How often it is looked for answers that are not taken.
inline constexpr std::chrono::milliseconds kSendCheckInterval{250};

// A connection that has been silent this long is asked whether it is still there, and closed when
// it does not answer within the timeout: callers behind a dead network hold no memory.
inline constexpr std::chrono::milliseconds kKeepaliveInterval = std::chrono::minutes(2);
inline constexpr std::chrono::milliseconds kKeepaliveTimeout = std::chrono::seconds(20);
// A client that pings more often than this is told to calm down and disconnected.
inline constexpr std::chrono::milliseconds kClientPingIntervalMin = std::chrono::seconds(10);
// A connection whose TLS handshake and HTTP/2 preface are not there by then is closed: whoever
// connects and says nothing holds no more than a socket, and that not for long.
inline constexpr std::chrono::milliseconds kHandshakeTimeout = std::chrono::seconds(10);

// File descriptors that connections leave to everything else: metrics, regions, files that are read
// again. A connection beyond that takes the place of another one, or is closed at once.
inline constexpr int kDescriptorsReserved = 64;
// Where there is no place for another connection, one gives way on which nothing has moved for this
// long; or for the second time where fewer bytes have come than any call has, beside the greeting.
inline constexpr std::chrono::milliseconds kConnectionIdleMin = std::chrono::seconds(10);
inline constexpr std::chrono::milliseconds kConnectionSilenceMin{100};
inline constexpr uint64_t kCallBytesMin = 160;
// How often it is logged at most that connections give way.
inline constexpr std::chrono::seconds kConnectionLogInterval{10};
// Default times after which connections without calls (--connection-idle-timeout), and streams
// whose callers send nothing (--stream-idle-timeout), end; and how often one of the latter is
// looked at.
inline constexpr std::chrono::milliseconds kConnectionIdleTimeout = std::chrono::minutes(5);
inline constexpr std::chrono::milliseconds kStreamIdleTimeout = std::chrono::minutes(2);
inline constexpr std::chrono::milliseconds kIdleTimeoutCeiling = std::chrono::hours(24);
inline constexpr int kIdleLooks = 8;
inline constexpr std::chrono::milliseconds kIdleLookMin{10};
// How often the memory of the process is compared with memory_bytes_max.
inline constexpr std::chrono::milliseconds kMemoryCheckInterval{20};
// memory_bytes_max where nobody sets it, in tenths of what the process may have
// (server/process/allowed_memory.h); and growth beyond it that calls for something to be done, as a
// part of it.
inline constexpr uint64_t kMemoryTenths = 9;
inline constexpr uint64_t kMemoryGrowthPart = 64;
// Looks at a shortage that does not grow, and does not end, before something is done. And what the
// server sends on a connection at most before it answers anything: its settings, and what it
// grants.
inline constexpr uint64_t kMemoryPatienceLooks = 50;
inline constexpr uint64_t kGreetingBytesMax = 512;
// What a connection may hold in a shortage and not be suspect, whatever the machine has: a quarter
// of the calls that it may have.
inline constexpr uint64_t kHeldBytesSuspect = kConcurrentStreamsMax / 4 * kIdleCallBytes;
// What a byte of headers takes at most: gRPC makes 64 bytes of a header of 4, and 96 more for the
// call's handler when the connection ends.
inline constexpr uint64_t kMemoryPerHeaderByte = (64 + 96) / 4;
// How long new connections wait where the system has no descriptor or memory for one.
inline constexpr std::chrono::milliseconds kAcceptPause{100};

// How often certificates and the file of tokens are looked at for changes; how long reading one may
// take, from a disk of another machine; and the most bytes of a file of certificates or a key.
inline constexpr std::chrono::seconds kFileCheckInterval{1};
inline constexpr std::chrono::milliseconds kFileReadTimeout = std::chrono::seconds(5);
inline constexpr uint64_t kCertificateFileBytesMax = 1 * kMiB;
// The file of tokens (--token-file), and what is in it. Every token is compared with that of a
// call, so that the time says nothing.
inline constexpr uint64_t kTokenFileBytesMax = 1 * kMiB;
inline constexpr size_t kTokenCountMax = 1024;
inline constexpr size_t kTokenTenantCountMax = 1024;
inline constexpr uint64_t kTenantLimitCeiling = uint64_t{1} << 50;
// What a tenant with a bound on bytes a second may send at once after a pause; and the longest that
// what it has sent beyond that keeps it out.
inline constexpr std::chrono::nanoseconds kTenantBurst = std::chrono::seconds(1);
inline constexpr std::chrono::nanoseconds kTenantDebtMax = std::chrono::hours(1);

// Lines of the log, and of the audit log, that wait to be written; further ones are dropped and
// counted. How often they are looked for while they come, and after they could not be written; and
// how long the end of the program waits for the last ones.
inline constexpr size_t kLogBufferBytes = 1 * kMiB;
inline constexpr size_t kAuditBufferBytes = 4 * kMiB;
inline constexpr std::chrono::milliseconds kLogInterval{5};
inline constexpr std::chrono::milliseconds kLogRetryInterval = std::chrono::seconds(1);
inline constexpr std::chrono::milliseconds kLogFlushTimeout = std::chrono::seconds(1);
// Names of arrays and regions that the audit log tells of one call.
inline constexpr size_t kAuditedObjectsMax = 32;
// Log lines of callers that were refused: of one address and of all of them, at once and then each
// second; addresses that are told apart; and how often it is said how many calls went without a
// line, of how many addresses by themselves.
inline constexpr double kRefusedLinesOfPeer = 5;
inline constexpr double kRefusedLinesOfPeerEachSecond = 0.1;
inline constexpr double kRefusedLines = 50;
inline constexpr double kRefusedLinesEachSecond = 5;
inline constexpr size_t kRefusedPeersMax = 1024;
inline constexpr std::chrono::seconds kRefusedSummaryInterval{10};
inline constexpr size_t kRefusedSummaryLinesMax = 8;

// What a refused caller is told to wait where nothing is known of how long jobs take: a few jobs'
// time; and the bounds of it where something is.
inline constexpr std::chrono::milliseconds kRetryDelay{100};
inline constexpr std::chrono::milliseconds kRetryDelayMin{10};
inline constexpr std::chrono::milliseconds kRetryDelayMax = std::chrono::seconds(10);
// Nobody is to come back for the first place that is free, or all would fight for it: a caller is
// told to wait until this part of the queue will have gone.
inline constexpr uint64_t kRetryQueuePart = 4;

// A tenant's share of the lanes and of the queue's reserve, which is this part of it: only for
// tenants with nothing waiting, or with less than their share of it.
inline constexpr uint64_t kTenantWeightDefault = 1;
inline constexpr uint64_t kTenantWeightMax = 1000;
inline constexpr uint64_t kQueueReservePart = 4;
// Tenants that the scheduler remembers while they have no jobs, for what they owe the others.
inline constexpr size_t kIdleTenantsMax = 256;

// No job costs less than the first, and none is thought to cost more than the second, so that sums
// of a full queue's costs stay far from the end of 64 bits.
inline constexpr std::chrono::nanoseconds kJobCostMin = std::chrono::microseconds(1);
inline constexpr std::chrono::nanoseconds kJobCostMax = std::chrono::hours(1);
// Jobs of a kind that are seen before their cost is estimated, and how long the last one counts.
inline constexpr uint64_t kCostJobsMin = 8;
inline constexpr std::chrono::nanoseconds kCostLifetime = std::chrono::seconds(10);
// Small jobs that wait for the same lane share a launch: the largest array of one, so many jobs,
// and so many bytes of all of them. A launch takes some 10 us on a GPU, a copy of the bytes 80 us;
// and the caller of the first job waits for the answers to all.
inline constexpr uint64_t kJobBatchedArrayBytesMax = 64 * kKiB;
inline constexpr uint64_t kJobBatchJobsMax = 256;
inline constexpr uint64_t kJobBatchBytesMax = 4 * kMiB;
// Jobs of a tenant that are looked at for one that may share the launch.
inline constexpr uint64_t kJobBatchSearchMax = 64;
// A job is not run when even this part of what it is estimated to take is too long for its
// deadline.
inline constexpr int kDeadlineOptimism = 2;
// A job that has waited for less than this part of the time until its deadline says nothing of how
// long others may wait.
inline constexpr int kDeadlineWaitPart = 8;
// Default time that a stopping server lets jobs finish in (--grace-period).
inline constexpr std::chrono::milliseconds kGracePeriod = std::chrono::seconds(30);
inline constexpr std::chrono::milliseconds kGracePeriodCeiling = std::chrono::hours(24);
inline constexpr std::chrono::milliseconds kLameDuckCeiling = std::chrono::hours(1);
// How long lanes may take to notice that they were told to stop, before the program ends without
// them: many chunks' time.
inline constexpr std::chrono::milliseconds kStopTimeout = std::chrono::seconds(5);
// How long the program may take after a second signal, before it ends whatever it does.
inline constexpr std::chrono::milliseconds kStopAtOnceTimeout{500};
// How long clients may take to acknowledge that the server is leaving. An answer that has left the
// program may still be on its way; closing the connection before it has arrived could destroy it.
inline constexpr std::chrono::milliseconds kCloseTimeout = std::chrono::seconds(2);

// Strategies that the metrics tell apart. An engine has some forty, of which a server's callers
// make use of a few. What comes after is counted together.
inline constexpr uint32_t kMetricStrategyCountMax = 64;
// Connections of scrapes at the same time; of the address that has most of them the oldest makes
// room for a new one. How long a request, and how long taking the answer, may take; and the bytes
// of a request.
inline constexpr size_t kScrapeConnectionsMax = 32;
inline constexpr std::chrono::milliseconds kScrapeRequestTimeout = std::chrono::seconds(2);
inline constexpr std::chrono::milliseconds kScrapeAnswerTimeout = std::chrono::seconds(10);
inline constexpr size_t kScrapeRequestBytesMax = 8 * kKiB;

// Input of a reduction or histogram from which on its parts are dealt to all devices, by default;
// and of which the states or counters of a part, which the host merges, are no more than a part.
inline constexpr uint64_t kDealtBytesMin = 16 * kMiB;
inline constexpr uint64_t kDealtBytesPerStateByte = 256;
// Counters of a histogram from which on those of several devices are added up on one of them, and
// not by the host: of 1 GiB on two H200, 131,072 bins took 0.50 ms that way and 0.59 by the host,
// 1,048,576 bins 2.3 and 2.7, 4,000,000 bins 6.8 and 13.7, with the way to the host.
inline constexpr uint64_t kCombinedBytesMin = kMiB;
// States of columns from which on devices that have shards merge them, and not the host; and how
// many bytes of a shard there are for each byte of its states where lanes have no room for these.
inline constexpr uint64_t kCombinedStateBytesMin = 64 * kKiB;
inline constexpr uint64_t kShardBytesPerStateByte = 4;
// The part of a GPU's free memory that is for resident arrays, in units of so many bytes, where
// --resident-bytes does not say how much; lanes take some of the rest.
inline constexpr uint64_t kResidentMemoryPart = 2;
inline constexpr uint64_t kResidentMemoryUnit = 64 * kMiB;
// Shards of a one-dimensional array end at multiples of so many elements, so that a scan can
// continue from one to the next.
inline constexpr uint64_t kShardUnitElements = kernels::kScanCarryElements;

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_BASE_FIXED_LIMITS_H_

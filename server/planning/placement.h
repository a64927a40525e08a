// What planned requests tell the scheduler: which engine must run them, because their resident
// arrays or device memory of regions are there, how many resident bytes they work on, and how much
// room their answers need.
#ifndef GRIDFOLD_SERVER_PLANNING_PLACEMENT_H_
#define GRIDFOLD_SERVER_PLANNING_PLACEMENT_H_

#include <cstdint>
#include <optional>

#include "server/planning/array_request_validation.h"
#include "server/planning/batch_validation.h"
#include "server/planning/keyed_validation.h"
#include "server/planning/paired_validation.h"
#include "server/planning/region_request_validation.h"
#include "server/planning/request_validation.h"
#include "server/scheduling/job.h"

namespace gridfold::server {

// The engine in whose memory a request's arrays lie; none where any engine will do.
std::optional<uint32_t> EngineOf(const PlannedReduction& planned);
std::optional<uint32_t> EngineOf(const PlannedScan& planned);
std::optional<uint32_t> EngineOf(const PlannedHistogram& planned);
std::optional<uint32_t> EngineOf(const PlannedKeyedReduction& planned);
std::optional<uint32_t> EngineOf(const PlannedOperation& operation);

// The engine on which a scan runs: that of its arrays, or of the array that its result becomes.
std::optional<uint32_t> PlaceOf(const PlannedScan& planned);

// Bytes of the elements of an inline result; 0 where the result goes elsewhere.
uint64_t InlineResultBytes(const PlannedScan& planned);

// Each adds to JobWork::resident_bytes and JobWork::answer_bytes and, unless any engine will do,
// sets JobWork::engine.
void Place(const PlannedReduction& planned, JobWork& work);
void Place(const PlannedScan& planned, JobWork& work);
void Place(const PlannedHistogram& planned, JobWork& work);
void Place(const PlannedKeyedReduction& planned, JobWork& work);
void Place(const PlannedQuantiles& planned, JobWork& work);
void Place(const PlannedTop& planned, JobWork& work);
void Place(const PlannedPaired& planned, JobWork& work);
void Place(const PlannedMerge& planned, JobWork& work);
void Place(const PlannedSubtraction& planned, JobWork& work);
void Place(const PlannedCreation& planned, JobWork& work);
void Place(const PlannedRegistration& planned, JobWork& work);
// The engine is that of any of the operations.
void Place(const PlannedBatch& batch, JobWork& work);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_PLANNING_PLACEMENT_H_

// Scans of sharded arrays.
//
// What lies on one device is a part of the scan, as far as the scan can go on at its ends. Where it
// can't, the elements around the cut are a part of their own, a *bridge*, which is brought to the
// host. In the first round lanes find what parts come to, and bring those elements. Then parts are
// scanned, all at the same time where totals say what precedes them (kernels/folds/dealt_scan.h).
// What an engine has to do in a round is one job.
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/folds/dealt_scan.h"
#include "server/compute/dealt_run.h"
#include "server/compute/planned_run.h"
#include "server/planning/placement.h"
#include "server/wire/description_conversion.h"

namespace gridfold::server {

namespace {

struct ScannedPart {
  uint64_t first_element = 0;
  uint64_t element_count = 0;
  std::vector<ArrayShard> shards;  // Where its elements lie, counted from its first one.
  // Of a bridge.
  std::vector<std::byte> elements = {};
  std::vector<std::byte> results = {};

  bool is_bridge() const { return shards.size() > 1; }
  uint32_t engine() const { return shards.front().engine; }
};

class DealtScanRun final : public DealtRun<ScanAnswer> {
 public:
  explicit DealtScanRun(const PlannedScan& planned)
      : planned_(planned),
        shards_(planned.input.resident->shards),
        dealt_(planned.plan, kernels::ScanCuts(planned.plan, CutsOf(shards_))) {
    for (size_t part = 0; part < dealt_.part_count(); ++part) {
      const uint64_t first = dealt_.first_element(part);
      const uint64_t count = dealt_.element_count(part);
      parts_.push_back({first, count, CutShards(shards_, first, count)});
    }
  }

  JobGroup::Parts Begin(const JobWork& common) override {
    common_ = common;
    Round round;
    for (size_t part = 0; part < parts_.size(); ++part) {
      if (parts_[part].is_bridge()) {
        AddCopies(parts_[part], &DealtScanRun::Fetch, round);
      } else if (dealt_.NeedsTotals(part)) {
        Add(
            parts_[part].engine(), parts_[part].element_count,
            [this, part](const JobContext& context) { return FindTotals(part, context); }, round);
      }
    }
    // Where no part needs what another one comes to, all can be scanned.
    for (size_t part = 0; round.empty() && part < parts_.size(); ++part) AddScan(part, round);
    JobGroup::Parts jobs = MakeJobs(round);
    common_.answer_bytes = 0;  // The first round takes the room.
    return jobs;
  }

  absl::StatusOr<JobGroup::Parts> EndRound(const JobContext& context) override {
    Round round;
    absl::Status status;
    if (stage_ == Stage::kPrepare) {
      status = FindTotalsOfBridges(context);
      stage_ = Stage::kScan;
    }
    if (status.ok() && stage_ == Stage::kScan) status = AddScans(context, round);
    if (!status.ok()) return status;
    if (round.empty() && stage_ == Stage::kScan) {
      stage_ = Stage::kPutBack;
      PutBackBridges(round);
    }
    if (round.empty() && stage_ == Stage::kPutBack) {
      stage_ = Stage::kEnd;
      if (std::holds_alternative<InPlaceResult>(planned_.result)) CopyBackShards(round);
    }
    return MakeJobs(round);
  }

  absl::StatusOr<ScanAnswer> MakeAnswer(const JobContext&) override {
    ScanAnswer answer{{}, data_ ? *std::move(data_) : ChunkData(0)};
    absl::Status status = Describe(answer.response);
    if (!status.ok()) return status;
    return answer;
  }

 private:
  enum class Stage : uint8_t { kPrepare, kScan, kPutBack, kEnd };
  using Step = std::function<absl::Status(const JobContext&)>;
  struct Work {
    uint64_t element_count = 0;
    uint64_t payload_bytes = 0;  // Elements of bridges.
    std::vector<Step> steps;
  };
  using Round = std::map<uint32_t, Work>;  // By engine.

  static void Add(uint32_t engine, uint64_t element_count, Step step, Round& round) {
    round[engine].element_count += element_count;
    round[engine].steps.push_back(std::move(step));
  }

  // Copies between a bridge and each of its devices.
  using CopyShard = absl::Status (DealtScanRun::*)(ScannedPart&, size_t, const JobContext&);
  void AddCopies(ScannedPart& bridge, CopyShard copy, Round& round) {
    for (size_t shard = 0; shard < bridge.shards.size(); ++shard) {
      Add(
          bridge.shards[shard].engine, bridge.shards[shard].element_count,
          [this, &bridge, shard, copy](const JobContext& context) {
            return (this->*copy)(bridge, shard, context);
          },
          round);
    }
  }

  void AddScan(size_t part, Round& round) {
    const ScannedPart& its = parts_[part];
    Add(
        its.engine(), its.element_count,
        [this, part](const JobContext& context) { return Scan(part, context); }, round);
    round[its.engine()].payload_bytes += its.elements.size();
  }

  absl::Status AddScans(const JobContext& context, Round& round) {
    const absl::StatusOr<std::vector<size_t>> next = dealt_.NextParts(context.lane);
    if (!next.ok()) return next.status();
    for (const size_t part : *next) AddScan(part, round);
    return absl::OkStatus();
  }

  // Results of bridges that go to an array on several devices.
  void PutBackBridges(Round& round) {
    if (output_ == nullptr) return;
    for (ScannedPart& part : parts_) {
      if (part.is_bridge()) AddCopies(part, &DealtScanRun::PutBack, round);
    }
  }

  void CopyBackShards(Round& round) {
    for (size_t shard = 0; shard < shards_.size(); ++shard) {
      Add(
          shards_[shard].engine, shards_[shard].element_count,
          [this, shard](const JobContext& context) { return CopyBack(shard, context); }, round);
    }
  }

  JobGroup::Parts MakeJobs(const Round& round) const {
    std::vector<PartPlace> places;
    std::vector<std::vector<Step>> steps;
    for (const auto& [engine, work] : round) {
      places.push_back({engine, 0, work.element_count});
      steps.push_back(work.steps);
    }
    JobGroup::Parts jobs =
        MakeParts(common_, places, input_bytes(), [steps](size_t job, const JobContext& context) {
          for (const Step& step : steps[job]) {
            if (context.stop.stop_requested()) return absl::CancelledError("the job was cancelled");
            if (absl::Status status = step(context); !status.ok()) return status;
          }
          return absl::OkStatus();
        });
    size_t job = 0;
    for (const auto& [engine, work] : round) jobs[job++].payload_bytes += work.payload_bytes;
    return jobs;
  }

  uint64_t input_bytes() const { return kernels::ElementSize(planned_.plan.array.element_type); }
  uint64_t output_bytes() const { return kernels::ElementSize(planned_.plan.output_type); }

  static kernels::InputSpan InputOf(const ScannedPart& part) {
    if (part.is_bridge()) return kernels::HostSpan{part.elements.data(), part.elements.size()};
    return kernels::ResidentSpan(part.shards.front().span);
  }

  absl::Status FindTotals(size_t part, const JobContext& context) {
    kernels::RunStatistics run;
    absl::Status status =
        dealt_.FindTotals(part, InputOf(parts_[part]), context.lane, context.stop, run);
    statistics_.Add(context, run);
    return status;
  }

  // One block of the tree each: by whichever lane is there.
  absl::Status FindTotalsOfBridges(const JobContext& context) {
    for (size_t part = 0; part < parts_.size(); ++part) {
      if (!parts_[part].is_bridge() || !dealt_.NeedsTotals(part)) continue;
      if (absl::Status status = FindTotals(part, context); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status Scan(size_t part, const JobContext& context) {
    const absl::StatusOr<kernels::OutputSpan> output = OutputOf(parts_[part]);
    if (!output.ok()) return output.status();
    kernels::RunStatistics run;
    absl::Status status =
        dealt_.RunPart(part, InputOf(parts_[part]), *output, context.lane, context.stop, run);
    statistics_.Add(context, run);
    if (const auto* const result = std::get_if<RegionResult>(&planned_.result)) {
      if (absl::Status used = EndUse(result->region); !used.ok()) return used;
    }
    return status;
  }

  absl::Status Fetch(ScannedPart& bridge, size_t shard, const JobContext& context) {
    const ArrayShard& from = bridge.shards[shard];
    std::byte* const to = Room(bridge.elements, bridge.element_count * input_bytes());
    return context.lane.Copy(
        kernels::ResidentSpan(from.span),
        kernels::MutableHostSpan{to + from.first_element * input_bytes(), from.span.size_bytes},
        context.stop);
  }

  absl::Status PutBack(ScannedPart& bridge, size_t shard, const JobContext& context) {
    const ArrayShard to =
        CutShards(output_->shards(), bridge.first_element, bridge.element_count)[shard];
    const std::byte* const from = bridge.results.data() + to.first_element * output_bytes();
    return context.lane.Copy(kernels::HostSpan{from, to.span.size_bytes}, to.span, context.stop);
  }

  // Not to be stopped: half of it would be neither the input nor the result.
  absl::Status CopyBack(size_t shard, const JobContext& context) {
    return context.lane.Copy(kernels::ResidentSpan(output_->shards()[shard].span),
                             shards_[shard].span, std::stop_token());
  }

  absl::StatusOr<kernels::OutputSpan> OutputOf(ScannedPart& part) {
    const uint64_t offset = part.first_element * output_bytes();
    const uint64_t size_bytes = part.element_count * output_bytes();
    if (std::holds_alternative<InlineResult>(planned_.result)) {
      return kernels::MutableHostSpan{Data() + offset, size_bytes};
    }
    if (const auto* const result = std::get_if<RegionResult>(&planned_.result)) {
      const kernels::MutableResidentSpan& place = result->place;
      return kernels::MutableResidentSpan{place.data + offset, size_bytes, place.is_mapped};
    }
    if (absl::Status status = Allocate(); !status.ok()) return status;
    if (part.is_bridge()) {
      return kernels::MutableHostSpan{Room(part.results, size_bytes), size_bytes};
    }
    return CutShards(output_->shards(), part.first_element, part.element_count).front().span;
  }

  // What follows takes memory when the first lane comes.
  std::byte* Data() {
    const std::lock_guard lock(mutex_);
    if (!data_) data_.emplace(InlineResultBytes(planned_));
    return data_->data();
  }

  std::byte* Room(std::vector<std::byte>& bytes, uint64_t size_bytes) {
    const std::lock_guard lock(mutex_);
    bytes.resize(size_bytes);
    return bytes.data();
  }

  absl::Status Allocate() {
    const std::lock_guard lock(mutex_);
    if (output_ != nullptr) return absl::OkStatus();
    const kernels::ShapedArray description(planned_.plan.output_type, planned_.input.shape);
    absl::StatusOr<ArrayLease> output = planned_.arrays.AllocateLike(description, shards_);
    if (!output.ok()) return output.status();
    output_ = *std::move(output);
    return absl::OkStatus();
  }

  absl::Status Describe(v1::ScanArrayResponse& response) {
    if (const auto* const made = std::get_if<NewArrayResult>(&planned_.result)) {
      const absl::StatusOr<ArrayInfo> info =
          planned_.arrays.Insert(made->name, made->idle_expiry, std::move(output_));
      if (!info.ok()) return info.status();
      *response.mutable_resident_array() = ToWire(*info);
      return absl::OkStatus();
    }
    if (std::holds_alternative<InPlaceResult>(planned_.result)) {
      planned_.input.resident->lease->MarkUsed();
      *response.mutable_resident_array() = ToWire(planned_.input.resident->array);
      return absl::OkStatus();
    }
    DescribeScanned(planned_, response);
    return absl::OkStatus();
  }

  const PlannedScan& planned_;
  const std::vector<ArrayShard> shards_;
  kernels::DealtScan dealt_;
  std::vector<ScannedPart> parts_;  // As dealt_ numbers them.
  JobWork common_;
  Stage stage_ = Stage::kPrepare;
  std::mutex mutex_;
  // Guarded by mutex_ while parts run, but for the bytes.
  std::optional<ChunkData> data_;  // An inline result.
  ArrayLease output_;              // One that becomes an array, or replaces one.
};

}  // namespace

absl::StatusOr<std::unique_ptr<DealtRun<ScanAnswer>>> Deal(const PlannedScan& planned,
                                                           const Limits&) {
  if (planned.gather) return Gather(planned);
  if (!planned.input.is_sharded()) return nullptr;
  return std::make_unique<DealtScanRun>(planned);
}

}  // namespace gridfold::server

#include "kernels/cpu/lane/engine.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <new>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/cpu/base/instruction_set.h"
#include "kernels/cpu/base/worker_pool.h"
#include "kernels/cpu/lane/lane.h"
#include "kernels/memory/host_resident_pool.h"

namespace gridfold::kernels::cpu {

namespace {

// The processor's name where the system tells it.
std::string ProcessorName() {
  std::ifstream processors("/proc/cpuinfo");
  for (std::string line; std::getline(processors, line);) {
    const size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "CPU";
}

uint64_t MemoryBytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  if (pages < 0 || page_bytes < 0) return 0;
  return static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_bytes);
}

// Whether this processor has the instructions that kernels are compiled for.
absl::Status CheckProcessor() {
  if (ActiveInstructionSet() >= kLeastInstructionSet) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "the CPU engine was compiled for the processor of the machine that built it, which has "
      "instructions that this one lacks");
}

class CpuEngine final : public Engine {
 public:
  CpuEngine(int threads, std::string name, uint64_t memory_bytes)
      : workers_(threads),
        device_{.name = std::move(name),
                .memory_bytes = memory_bytes,
                .compute_units = static_cast<uint32_t>(workers_.thread_count()),
                .compute_capability = ""} {}

  const char* name() const override { return "cpu"; }
  const DeviceDescription& device() const override { return device_; }
  bool Healthy() const override { return true; }

  absl::StatusOr<std::unique_ptr<Lane>> CreateLane(const LaneOptions& options) override {
    return CreateCpuLane(workers_, options);
  }

  absl::StatusOr<std::unique_ptr<ResidentPool>> CreateResidentPool(uint64_t size_bytes) override {
    return CreateHostResidentPool(size_bytes);
  }

  absl::StatusOr<std::unique_ptr<ExternalMemory>> RegisterHostMemory(
      MutableHostSpan memory) override {
    return std::make_unique<ExternalMemory>(MutableResidentSpan{memory.data, memory.size_bytes});
  }

 private:
  WorkerPool workers_;
  const DeviceDescription device_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Engine>> CreateCpuEngine(int threads) {
  if (threads < 0) {
    return absl::InvalidArgumentError(absl::StrCat("cpu_threads: ", threads, " is negative"));
  }
  if (absl::Status status = CheckProcessor(); !status.ok()) return status;
  return std::unique_ptr<Engine>(
      std::make_unique<CpuEngine>(threads, ProcessorName(), MemoryBytes()));
}

absl::StatusOr<std::vector<std::unique_ptr<Engine>>> CreateCpuEngines(int threads, int devices) {
  if (threads < 0 || devices < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("cpu_devices: ", devices, " devices with ", threads, " threads"));
  }
  if (absl::Status status = CheckProcessor(); !status.ok()) return status;
  std::vector<std::unique_ptr<Engine>> engines;
  if (devices == 1) {
    absl::StatusOr<std::unique_ptr<Engine>> engine = CreateCpuEngine(threads);
    if (!engine.ok()) return engine.status();
    engines.push_back(*std::move(engine));
    return engines;
  }
  const int all_threads = threads > 0 ? threads : ProcessorCount();
  for (int i = 0; i < devices; ++i) {
    const int its_threads = (i + 1) * all_threads / devices - i * all_threads / devices;
    engines.push_back(std::make_unique<CpuEngine>(
        std::max(its_threads, 1),
        absl::StrCat(ProcessorName(), ", virtual device ", i + 1, " of ", devices),
        MemoryBytes() / static_cast<uint64_t>(devices)));
  }
  return engines;
}

}  // namespace gridfold::kernels::cpu

#include "kernels/contract/engine.h"
#include "kernels/cpu/lane/engine.h"

#ifdef GRIDFOLD_WITH_CUDA
#include "kernels/cuda/lane/engine.h"
#endif

namespace gridfold::kernels {

namespace {

using Engines = std::vector<std::unique_ptr<Engine>>;

// GPUs that may be asked for; 0 in a program without the CUDA engine.
int DeviceCount() {
#ifdef GRIDFOLD_WITH_CUDA
  return CudaDeviceCount();
#else
  return 0;
#endif
}

absl::StatusOr<std::unique_ptr<Engine>> CreateCuda([[maybe_unused]] int device) {
#ifdef GRIDFOLD_WITH_CUDA
  if (CudaDeviceCount() == 0) {
    return absl::FailedPreconditionError("the CUDA engine needs a GPU, and there is none");
  }
  return CreateCudaEngine(device);
#else
  return absl::FailedPreconditionError("this program was built without the CUDA engine");
#endif
}

void Connect([[maybe_unused]] const std::vector<int>& devices) {
#ifdef GRIDFOLD_WITH_CUDA
  ConnectDevices(devices);
#endif
}

absl::StatusOr<Engines> CreateNamed(const std::vector<int>& devices) {
  Engines engines;
  for (const int device : devices) {
    absl::StatusOr<std::unique_ptr<Engine>> engine = CreateCuda(device);
    if (!engine.ok()) return engine.status();
    engines.push_back(*std::move(engine));
  }
  Connect(devices);
  return engines;
}

// Those that can be used; the error of the first where none can.
absl::StatusOr<Engines> CreateUsable() {
  Engines engines;
  std::vector<int> devices;
  absl::Status error;
  for (int device = 0; device == 0 || device < DeviceCount(); ++device) {
    absl::StatusOr<std::unique_ptr<Engine>> engine = CreateCuda(device);
    if (engine.ok()) {
      engines.push_back(*std::move(engine));
      devices.push_back(device);
    } else if (error.ok()) {
      error = engine.status();
    }
  }
  if (engines.empty()) return error;
  Connect(devices);
  return engines;
}

}  // namespace

bool CudaDeviceAvailable() { return DeviceCount() > 0; }

absl::StatusOr<Engines> CreateEngines(const EngineOptions& options) {
  const bool may_be_cuda = options.kind == EngineKind::kCuda ||
                           (options.kind == EngineKind::kAuto && CudaDeviceAvailable());
  if (may_be_cuda) {
    absl::StatusOr<Engines> engines =
        options.cuda_devices.empty() ? CreateUsable() : CreateNamed(options.cuda_devices);
    // A GPU that is there but cannot be used is as good as none.
    if (engines.ok() || options.kind == EngineKind::kCuda) return engines;
  }
  return cpu::CreateCpuEngines(options.cpu_threads, options.cpu_devices);
}

absl::StatusOr<std::unique_ptr<Engine>> CreateEngine(const EngineOptions& options) {
  if (options.kind == EngineKind::kCuda) return CreateCuda(options.cuda_device);
  if (options.kind == EngineKind::kAuto && CudaDeviceAvailable()) {
    absl::StatusOr<std::unique_ptr<Engine>> engine = CreateCuda(options.cuda_device);
    // A GPU that is there but cannot be used is as good as none.
    if (engine.ok()) return engine;
  }
  return cpu::CreateCpuEngine(options.cpu_threads);
}

}  // namespace gridfold::kernels

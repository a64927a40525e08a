#include "kernels/cpu/cpu_engine.h"
#include "kernels/engine.h"

#ifdef GRIDFOLD_WITH_CUDA
#include "kernels/cuda/cuda_engine.h"
#endif

namespace gridfold::kernels {

namespace {

absl::StatusOr<std::unique_ptr<Engine>> CreateCuda([[maybe_unused]] const EngineOptions& options) {
#ifdef GRIDFOLD_WITH_CUDA
  if (CudaDeviceCount() == 0) {
    return absl::FailedPreconditionError("the CUDA engine needs a GPU, and there is none");
  }
  return CreateCudaEngine(options.cuda_device);
#else
  return absl::FailedPreconditionError("this program was built without the CUDA engine");
#endif
}

}  // namespace

bool CudaDeviceAvailable() {
#ifdef GRIDFOLD_WITH_CUDA
  return CudaDeviceCount() > 0;
#else
  return false;
#endif
}

absl::StatusOr<std::unique_ptr<Engine>> CreateEngine(const EngineOptions& options) {
  if (options.kind == EngineKind::kCuda) return CreateCuda(options);
  if (options.kind == EngineKind::kAuto && CudaDeviceAvailable()) {
    absl::StatusOr<std::unique_ptr<Engine>> engine = CreateCuda(options);
    // A GPU that is there but cannot be used is as good as none.
    if (engine.ok()) return engine;
  }
  return CreateCpuEngine(options.cpu_threads);
}

}  // namespace gridfold::kernels

#include "kernels/cuda/lane/part_copier.h"

#include "kernels/cuda/device/grid.h"
#include "kernels/cuda/device/status.h"

namespace gridfold::kernels::cuda {

namespace {

// Elements whose arrays, each aligned, take no more than `size_bytes`.
uint64_t ElementsMax(std::span<const PartArray> arrays, uint64_t size_bytes) {
  uint64_t element_bytes = 0;
  for (const PartArray& array : arrays) element_bytes += array.element_bytes;
  return (size_bytes - arrays.size() * kArrayAlignmentBytes) / element_bytes;
}

}  // namespace

absl::StatusOr<PartCopier> PartCopier::Create() {
  absl::StatusOr<Stream> stream = Stream::Create();
  if (!stream.ok()) return stream.status();
  absl::StatusOr<Event> first = Event::Create();
  if (!first.ok()) return first.status();
  absl::StatusOr<Event> second = Event::Create();
  if (!second.ok()) return second.status();
  return PartCopier(*std::move(stream), {*std::move(first), *std::move(second)});
}

absl::Status PartCopier::ForEachPart(std::span<const PartArray> arrays, uint64_t element_count,
                                     std::span<std::byte> places,
                                     absl::FunctionRef<uint64_t(uint64_t, uint64_t)> elements_of,
                                     absl::FunctionRef<absl::Status(const Part&)> run) {
  const uint64_t half_bytes = places.size() / 2 / kArrayAlignmentBytes * kArrayAlignmentBytes;
  const uint64_t elements_max = ElementsMax(arrays, half_bytes);
  Part part;
  Part next;
  while (true) {
    if (next.begin < element_count) {
      next.element_count = elements_of(next.begin, elements_max);
      std::byte* const place = places.data() + next.number % copied_.size() * half_bytes;
      if (absl::Status status = Start(arrays, place, next); !status.ok()) return status;
    }
    if (part.element_count > 0) {
      if (absl::Status status = run(part); !status.ok()) return status;
    }
    if (next.begin >= element_count) return absl::OkStatus();
    part = next;
    next = {.number = part.number + 1, .begin = part.begin + part.element_count};
  }
}

absl::Status PartCopier::Start(std::span<const PartArray> arrays, std::byte* place, Part& part) {
  for (size_t i = 0; i < arrays.size(); ++i) {
    const auto& [data, element_bytes] = arrays[i];
    const uint64_t size_bytes = part.element_count * element_bytes;
    GRIDFOLD_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(place, data + part.begin * element_bytes,
                                                  size_bytes, cudaMemcpyDefault, stream_.get()));
    part.arrays[i] = place;
    place += RoundUp(size_bytes, kArrayAlignmentBytes);
  }
  return copied_[part.number % copied_.size()].Record(stream_.get());
}

absl::Status PartCopier::Await(const Part& part, cudaStream_t stream) const {
  return copied_[part.number % copied_.size()].Await(stream);
}

}  // namespace gridfold::kernels::cuda

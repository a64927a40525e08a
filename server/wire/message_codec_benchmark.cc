// What it takes to decode a request with an inline array, which arrives in slices as HTTP/2 frames
// make them, and to bring its data to where a lane copies it: with the data in the message, and
// detached from it.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "gridfold/v1/compute_service.pb.h"
#include "kernels/memory/host_resident_pool.h"
#include "server/planning/array_validation.h"
#include "server/wire/message_codec.h"

namespace gridfold::server {
namespace {

constexpr size_t kSliceBytes = 16 * kKiB;

std::vector<grpc::Slice> RequestSlices(size_t data_bytes) {
  v1::ReduceArrayRequest request;
  request.mutable_array()->mutable_inline_array()->mutable_data()->assign(data_bytes, 'x');
  const std::string bytes = request.SerializeAsString();
  std::vector<grpc::Slice> slices;
  for (size_t begin = 0; begin < bytes.size(); begin += kSliceBytes) {
    slices.emplace_back(bytes.data() + begin, std::min(kSliceBytes, bytes.size() - begin));
  }
  return slices;
}

void Decode(benchmark::State& state, const BulkField& bulk) {
  const auto data_bytes = static_cast<size_t>(state.range(0));
  const std::vector<grpc::Slice> slices = RequestSlices(data_bytes);
  const auto lane = std::make_unique_for_overwrite<std::byte[]>(data_bytes);
  std::memset(lane.get(), 0, data_bytes);
  for (auto _ : state) {
    grpc::ByteBuffer buffer(slices.data(), slices.size());
    v1::ReduceArrayRequest request;
    DetachedData detached;
    if (!DecodeRequest(buffer, Limits{}, request, detached, bulk).ok()) std::abort();
    std::byte* place = lane.get();
    const std::string& field = request.array().inline_array().data();
    const auto data = detached.Find(field);
    kernels::InputSpan input =
        kernels::HostSpan{reinterpret_cast<const std::byte*>(field.data()), field.size()};
    if (data) input = *data;
    kernels::ForEachHostSpan(input, [&](const kernels::HostSpan& piece) {
      std::memcpy(place, piece.data, piece.size_bytes);
      place += piece.size_bytes;
    });
    benchmark::DoNotOptimize(lane.get());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void InTheMessage(benchmark::State& state) { Decode(state, BulkField{}); }
void Detached(benchmark::State& state) { Decode(state, {DetachableArrayData().field, 4096}); }

BENCHMARK(InTheMessage)->RangeMultiplier(4)->Range(4 << 10, 64 << 20);
BENCHMARK(Detached)->RangeMultiplier(4)->Range(4 << 10, 64 << 20);

}  // namespace
}  // namespace gridfold::server

BENCHMARK_MAIN();

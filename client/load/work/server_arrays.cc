#include "client/load/work/server_arrays.h"

#include <cstring>

#include "gridfold/array_view.h"

namespace gridfold::load {
namespace {

uint64_t AlignedBytes(uint64_t size_bytes) {
  constexpr uint64_t kUnit = ResultPlaces::kAlignmentBytes;
  return (size_bytes + kUnit - 1) / kUnit * kUnit;
}

}  // namespace

ServerArrays::~ServerArrays() {
  for (const auto& [tenant_client, name] : resident_arrays_) {
    // A server that has gone has nothing to delete.
    (void)tenant_client->DeleteArray(name, {.timeout = absl::Seconds(2)});
  }
}

absl::StatusOr<client::Client*> ServerArrays::ClientOf(const std::string& tenant) {
  std::unique_ptr<client::Client>& known = clients_[tenant];
  if (known == nullptr) {
    client::ClientOptions options = options_;
    options.tenant = tenant;
    options.channel_count = 1;
    absl::StatusOr<std::unique_ptr<client::Client>> connected = client::Client::Connect(options);
    if (!connected.ok()) return connected.status();
    known = *std::move(connected);
  }
  return known.get();
}

absl::StatusOr<std::vector<client::ArrayInput>> ServerArrays::Place(
    const RequestKind& kind, const std::vector<ArrayBytes>& arrays) {
  const absl::StatusOr<client::Client*> tenant_client = ClientOf(kind.tenant);
  if (!tenant_client.ok()) return tenant_client.status();
  return kind.transport == ArrayTransport::kResident ? PlaceResident(**tenant_client, arrays)
                                                     : PlaceShared(**tenant_client, arrays);
}

absl::StatusOr<std::vector<client::ArrayInput>> ServerArrays::PlaceResident(
    client::Client& tenant_client, const std::vector<ArrayBytes>& arrays) {
  std::vector<client::ArrayInput> inputs;
  for (const auto& [element_type, shape, bytes] : arrays) {
    const auto array = tenant_client.CreateArray({.element_type = element_type, .shape = shape});
    if (!array.ok()) return array.status();
    resident_arrays_.emplace_back(&tenant_client, array->name);
    const client::ArrayView view(element_type, bytes.data(),
                                 bytes.size() / client::ElementSizeBytes(element_type));
    absl::Status status = tenant_client.WriteArray(array->name, 0, view);
    if (!status.ok()) return status;
    inputs.emplace_back(client::ResidentArray{array->name});
  }
  return inputs;
}

absl::StatusOr<std::vector<client::ArrayInput>> ServerArrays::PlaceShared(
    client::Client& tenant_client, const std::vector<ArrayBytes>& arrays) {
  uint64_t size_bytes = 0;
  for (const ArrayBytes& array : arrays) size_bytes += AlignedBytes(array.bytes.size());
  const absl::StatusOr<const client::SharedRegion*> created =
      CreateRegion(tenant_client, size_bytes);
  if (!created.ok()) return created.status();
  const client::SharedRegion& region = **created;
  std::vector<client::ArrayInput> inputs;
  uint64_t offset_bytes = 0;
  for (const auto& [element_type, shape, bytes] : arrays) {
    std::memcpy(region.bytes().data() + offset_bytes, bytes.data(), bytes.size());
    inputs.emplace_back(region.Slice(element_type, shape, offset_bytes));
    offset_bytes += AlignedBytes(bytes.size());
  }
  return inputs;
}

absl::StatusOr<ResultPlaces*> ServerArrays::MakeResultPlaces(const RequestKind& kind,
                                                             uint64_t result_bytes,
                                                             uint64_t place_count) {
  const absl::StatusOr<client::Client*> tenant_client = ClientOf(kind.tenant);
  if (!tenant_client.ok()) return tenant_client.status();
  const uint64_t place_bytes = AlignedBytes(result_bytes);
  const auto region = CreateRegion(**tenant_client, place_bytes * place_count);
  if (!region.ok()) return region.status();
  return result_places_.emplace_back(std::make_unique<ResultPlaces>(**region, place_bytes)).get();
}

absl::StatusOr<const client::SharedRegion*> ServerArrays::CreateRegion(
    client::Client& tenant_client, uint64_t size_bytes) {
  absl::StatusOr<client::SharedRegion> region =
      client::SharedRegion::Create(tenant_client, {.size_bytes = size_bytes});
  if (!region.ok()) return region.status();
  return &regions_.emplace_back(*std::move(region));
}

}  // namespace gridfold::load

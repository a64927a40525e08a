#include "client/command_line/commands/input_passage.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/command_line/arguments/array_reference.h"

namespace gridfold::client {
namespace {

// No server's largest message is smaller.
constexpr uint64_t kSmallestMessageBytes = uint64_t{64} << 10;
// Of a request, beside arrays and what grows with the question.
constexpr uint64_t kFrameBytes = uint64_t{16} << 10;
// Twice what a stream may have waiting, where messages are not smaller.
constexpr uint64_t kAnyStreamMessageBytes = uint64_t{32} << 20;
// What is written to an array by one call.
constexpr size_t kWriteBytes = size_t{32} << 20;
// What is read of a file at a time, unless it is said.
constexpr size_t kReadBytes = size_t{2} << 20;
// How long the server keeps an array of a program that was killed.
constexpr absl::Duration kKeptTime = absl::Minutes(10);

uint64_t RoomIn(uint64_t message_bytes, ElementType type, const RequestShare& share) {
  const uint64_t other_bytes = kFrameBytes + share.other_bytes;
  if (other_bytes >= message_bytes) return 0;
  const uint64_t room = (message_bytes - other_bytes) / share.array_count;
  const uint64_t element_bytes = ElementSizeBytes(type);
  return room / std::max(share.result_bytes_per_element, element_bytes) * element_bytes;
}

// Reads the array where it has no more than `room` bytes: whether it is whole.
absl::StatusOr<bool> ReadWhole(const Session& session, uint64_t room, OutgoingArray& array) {
  if (array.size_bytes() && *array.size_bytes() > room) return false;
  if (absl::Status status = array.ReadAhead(session, room); !status.ok()) return status;
  return array.is_whole() && *array.size_bytes() <= room;
}

InputArray InRequest(const Session& session, OutgoingArray array) {
  HostArray elements = array.TakeWhole(session);
  return {.description = array.Describe(), .array = std::move(elements)};
}

ArrayPlace PlaceOf(const ArrayDescription& array) {
  return {.device = array.device, .is_sharded = !array.shards.empty()};
}

absl::StatusOr<InputArray> FindOnServer(const Session& session, const ArrayReference& reference) {
  const absl::StatusOr<std::unique_ptr<Client>> client = session.Connect();
  if (!client.ok()) return client.status();
  const absl::StatusOr<ArrayDescription> array = (*client)->GetArray(reference.name);
  if (!array.ok()) return array.status();
  const absl::StatusOr<ResidentArray> resident = Resolve(reference, array->shape);
  if (!resident.ok()) return resident.status();
  return InputArray{.description = {.source = reference.text,
                                    .element_type = array->element_type,
                                    .shape = ShapeOf(*resident, array->shape)},
                    .array = *resident,
                    .place = PlaceOf(*array)};
}

struct KeptArray {
  std::unique_ptr<Client> client;
  std::string name;

  ~KeptArray() { (void)client->DeleteArray(name); }
};

}  // namespace

absl::StatusOr<InputPassage> FindInput(const Session& session, const InputOptions& options,
                                       size_t chunk_bytes) {
  if (options.resident) {
    absl::StatusOr<InputArray> found = FindOnServer(session, *options.resident);
    if (!found.ok()) return found.status();
    return InputPassage(*std::move(found));
  }
  absl::StatusOr<OutgoingArray> array = OutgoingArray::Open(options, chunk_bytes);
  if (!array.ok()) return array.status();
  return InputPassage(*std::move(array));
}

absl::StatusOr<InputPassage> ReadInput(const Session& session, InputPassage opened, bool shared,
                                       const RequestShare& share) {
  auto* const array = std::get_if<OutgoingArray>(&opened);
  if (array == nullptr) return opened;
  const bool is_forced = shared || session.options().transport != ArrayTransport::kAuto;
  const auto by_library = [&](InputArray given) {
    if (shared) given.transport = ArrayTransport::kRegion;
    return InputPassage(std::move(given));
  };
  const ElementType type = array->stream().element_type();
  absl::StatusOr<bool> is_whole =
      ReadWhole(session, RoomIn(kSmallestMessageBytes, type, share), *array);
  if (!is_whole.ok()) return is_whole.status();
  if (*is_whole) return by_library(InRequest(session, std::move(*array)));
  if (share.goes_by_library || is_forced) {
    if (std::optional<InputArray> mapped = array->Map()) return by_library(*std::move(mapped));
  }
  if (is_forced) {
    absl::Status status = array->LearnSize(session);
    if (status.ok()) status = array->ReadAhead(session, *array->size_bytes());
    if (!status.ok()) return status;
    return by_library(InRequest(session, std::move(*array)));
  }
  const absl::StatusOr<uint64_t> message_bytes = session.MessageBytesMax();
  if (!message_bytes.ok()) return message_bytes.status();
  is_whole = ReadWhole(session, RoomIn(*message_bytes, type, share), *array);
  if (!is_whole.ok()) return is_whole.status();
  if (*is_whole) return by_library(InRequest(session, std::move(*array)));
  return opened;
}

absl::StatusOr<InputPassage> OpenPassage(const Session& session, const InputOptions& options,
                                         size_t chunk_bytes, const RequestShare& share) {
  absl::StatusOr<InputPassage> opened = FindInput(session, options, chunk_bytes);
  if (!opened.ok()) return opened.status();
  return ReadInput(session, *std::move(opened), options.shared, share);
}

absl::StatusOr<std::optional<InputPassage>> OpenSecond(const Session& session,
                                                       const InputOptions& first,
                                                       const SecondArray& second,
                                                       size_t chunk_bytes,
                                                       const RequestShare& share) {
  if (!second.IsGiven()) return std::nullopt;
  const absl::StatusOr<InputOptions> options = ToSecondOptions(first, second);
  if (!options.ok()) return options.status();
  absl::StatusOr<InputPassage> opened = OpenPassage(session, *options, chunk_bytes, share);
  if (!opened.ok()) return opened.status();
  return std::optional<InputPassage>(*std::move(opened));
}

absl::StatusOr<bool> TakesAnyStream(const Session& session) {
  const absl::StatusOr<uint64_t> message_bytes = session.MessageBytesMax();
  if (!message_bytes.ok()) return message_bytes.status();
  return *message_bytes >= kAnyStreamMessageBytes;
}

absl::StatusOr<InputArray> KeepOnServer(const Session& session, OutgoingArray array,
                                        std::optional<ArrayPlace> place) {
  if (absl::Status status = array.LearnSize(session); !status.ok()) return status;
  absl::StatusOr<std::unique_ptr<Client>> client = session.Connect();
  if (!client.ok()) return client.status();
  NewArray kept_array{.element_type = array.stream().element_type(),
                      .shape = array.stream().ShapeOf(*array.size_bytes()),
                      .idle_expiry = kKeptTime};
  if (place && place->is_sharded) {
    kept_array.placement = ArrayPlacement::kSharded;
  } else if (place) {
    kept_array.device = place->device;
  }
  const absl::StatusOr<ArrayDescription> created = (*client)->CreateArray(kept_array);
  if (!created.ok()) {
    absl::Status status(
        created.status().code(),
        absl::StrCat(array.Describe().source,
                     ": is larger than a request, and what is asked takes all of it at once, so it "
                     "would be kept on the server for the while: ",
                     created.status().message()));
    created.status().ForEachPayload(
        [&](absl::string_view url, const absl::Cord& payload) { status.SetPayload(url, payload); });
    return status;
  }
  auto kept = std::make_shared<KeptArray>();
  kept->client = *std::move(client);
  kept->name = created->name;
  if (absl::Status status = WriteElements(session, *kept->client, kept->name, 0, array);
      !status.ok()) {
    return status;
  }
  array.TellAbout(session);
  return InputArray{.description = array.Describe(),
                    .array = ResidentArray{kept->name},
                    .place = PlaceOf(*created),
                    .owner = kept};
}

std::optional<ArrayPlace> PlaceOf(const InputPassage& input) {
  const auto* const array = std::get_if<InputArray>(&input);
  return array == nullptr ? std::nullopt : array->place;
}

std::optional<ArrayPlace> PlaceOf(const std::optional<InputPassage>& input) {
  return input ? PlaceOf(*input) : std::nullopt;
}

absl::StatusOr<InputArray> Settle(const Session& session, InputPassage input,
                                  std::optional<ArrayPlace>& place) {
  absl::StatusOr<InputArray> array;
  if (auto* const large = std::get_if<OutgoingArray>(&input)) {
    array = KeepOnServer(session, std::move(*large), place);
  } else {
    array = std::get<InputArray>(std::move(input));
  }
  if (array.ok() && array->place) place = array->place;
  return array;
}

absl::StatusOr<std::optional<InputArray>> Settle(const Session& session,
                                                 std::optional<InputPassage> input,
                                                 std::optional<ArrayPlace>& place) {
  if (!input) return std::nullopt;
  absl::StatusOr<InputArray> array = Settle(session, *std::move(input), place);
  if (!array.ok()) return array.status();
  return std::optional<InputArray>(*std::move(array));
}

absl::StatusOr<InputArray> OpenWhole(const Session& session, const InputOptions& options,
                                     uint64_t other_bytes) {
  absl::StatusOr<InputPassage> passage =
      OpenPassage(session, options, kReadBytes, {.other_bytes = other_bytes});
  if (!passage.ok()) return passage.status();
  std::optional<ArrayPlace> any_place;
  return Settle(session, *std::move(passage), any_place);
}

absl::Status WriteElements(const Session& session, Client& client, const std::string& name,
                           uint64_t first_element, OutgoingArray& array) {
  const ElementType type = array.stream().element_type();
  const size_t element_bytes = ElementSizeBytes(type);
  array.SetChunkElements(kWriteBytes / element_bytes);
  const std::unique_ptr<Progress> progress = session.ShowProgress();
  progress->Begin(absl::StrCat("sending ", array.Describe().source));
  uint64_t sent_bytes = 0;
  return array.SendAll([&](std::span<const std::byte> piece) {
    const ArrayView elements(type, piece.data(), piece.size() / element_bytes);
    absl::Status status =
        client.WriteArray(name, first_element + sent_bytes / element_bytes, elements);
    sent_bytes += piece.size();
    progress->Update(sent_bytes, array.size_bytes());
    return status;
  });
}

}  // namespace gridfold::client

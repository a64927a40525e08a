#include "server/testing/request_mutator.h"

#include <limits>
#include <memory>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/text_format.h"
#include "gridfold/v1/array_service.pb.h"
#include "gridfold/v1/compute_service.pb.h"
#include "gridfold/v1/region_service.pb.h"
#include "kernels/accumulators/accumulator.h"

namespace gridfold::server {

namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

struct Seed {
  const char* method;
  const Message* prototype;
  std::string text;
};

constexpr char kReduce[] = "/gridfold.v1.ComputeService/ReduceArray";
constexpr char kScan[] = "/gridfold.v1.ComputeService/ScanArray";
constexpr char kHistogram[] = "/gridfold.v1.ComputeService/ComputeHistogram";
constexpr char kQuantiles[] = "/gridfold.v1.ComputeService/ComputeQuantiles";
constexpr char kTop[] = "/gridfold.v1.ComputeService/SelectTop";
constexpr char kRelate[] = "/gridfold.v1.ComputeService/RelateArrays";
constexpr char kByKey[] = "/gridfold.v1.ComputeService/ReduceByKey";
constexpr char kMerge[] = "/gridfold.v1.ComputeService/MergeAccumulators";
constexpr char kSubtract[] = "/gridfold.v1.ComputeService/SubtractAccumulators";
constexpr char kBatch[] = "/gridfold.v1.ComputeService/BatchCompute";
constexpr char kCreate[] = "/gridfold.v1.ArrayService/CreateArray";
constexpr char kWrite[] = "/gridfold.v1.ArrayService/WriteArray";
constexpr char kRead[] = "/gridfold.v1.ArrayService/ReadArray";
constexpr char kGet[] = "/gridfold.v1.ArrayService/GetArray";
constexpr char kList[] = "/gridfold.v1.ArrayService/ListArrays";
constexpr char kDelete[] = "/gridfold.v1.ArrayService/DeleteArray";
constexpr char kRegister[] = "/gridfold.v1.RegionService/RegisterRegion";
constexpr char kUnregister[] = "/gridfold.v1.RegionService/UnregisterRegion";
constexpr char kListRegions[] = "/gridfold.v1.RegionService/ListRegions";

// kMutatorArray, of which there is but one element, as a source.
std::string Resident(const char* field) {
  return absl::StrCat(field, " { resident_array { name: '", kMutatorArray,
                      "' slice { first: 0 count: 1 } } } ");
}

// A view of kMutatorMatrix: columns 0 and 2 as rows, from the last row on.
std::string ViewOfMatrix() {
  return absl::StrCat("{ name: '", kMutatorMatrix,
                      "' view { first: [2, 0] dimensions { axis: 1 count: 2 step: 2 } "
                      "dimensions { axis: 0 count: 3 step: -1 } } } ");
}

// An int64 of kMutatorRegion as a source.
std::string InRegion(const char* field) {
  return absl::StrCat(field, " { region_slice { name: '", kMutatorRegion,
                      "' element_type: 4 shape: 1 } } ");
}

// Accumulators of two integers, as text.
std::string ReductionAccumulator() {
  kernels::ReductionSpec spec;
  spec.statistics = {kernels::Statistic::kSum, kernels::Statistic::kArgmax,
                     kernels::Statistic::kVariance, kernels::Statistic::kProduct};
  spec.return_states = true;
  kernels::GroupStates<int16_t> groups(1);
  groups[0].Add(-300, 0, false);
  groups[0].Add(7, 1, false);
  return absl::CEscape(*kernels::MakeReductionAccumulator(
      *kernels::PlanReduction(kernels::ArrayDescription::Vector(kernels::ElementType::kInt16, 2),
                              spec),
      groups));
}

std::string HistogramAccumulator() {
  kernels::HistogramSpec spec;
  spec.bins = {kernels::EvenBinsSpec{100, -5.0, 5.0}};
  spec.quantiles = {0.5};
  spec.return_states = true;
  const kernels::HistogramPlan plan = *kernels::PlanHistogram(
      kernels::ArrayDescription::Vector(kernels::ElementType::kInt16, 2), spec, 100);
  kernels::HistogramResult result;
  result.bins = plan.bins;
  result.channels.resize(1);
  result.channels[0].counts.resize(100);
  result.channels[0].counts[42] = 2;
  return absl::CEscape(*kernels::MakeHistogramAccumulator(plan, result));
}

const std::vector<Seed>& Seeds() {
  static const auto* const kSeeds = new std::vector<Seed>{
      {kReduce, &v1::ReduceArrayRequest::default_instance(),
       "array { inline_array { element_type: 1 shape: [2, 8] data: 'abcdefghijklmnop' } } "
       "statistics: [1, 2, 3, 4, 5, 6, 7, 8, 9, 18] grouping { axis: 1 } nan_policy: 1 "
       "overflow_policy: 2 delta_degrees_of_freedom: 1 return_accumulator: true first_index: 3"},
      {kReduce, &v1::ReduceArrayRequest::default_instance(),
       "array { inline_array { element_type: 11 data: 'abcdefghijklmnop' } } statistics: [2, 8, "
       "10] "
       "grouping { segments { offsets: [0, 1, 3, 4] } } nan_policy: 2"},
      {kScan, &v1::ScanArrayRequest::default_instance(),
       "array { inline_array { element_type: 8 shape: 2 data: 'abcdefghijklmnop' } } operation: 1 "
       "mode: 2 direction: 2 output_type: 8 overflow_policy: 2 destination { inline_array { } }"},
      {kScan, &v1::ScanArrayRequest::default_instance(),
       "array { inline_array { element_type: 9 data: 'abcdefghijklmnop' } } operation: 4 "
       "grouping { segments { offsets: [0, 0, 8] } }"},
      {kHistogram, &v1::ComputeHistogramRequest::default_instance(),
       "array { inline_array { element_type: 2 data: 'abcdefghijklmnop' } } "
       "bins { even { bin_count: 10 lower_bound: -5 upper_bound: 5 } } "
       "bins { logarithmic { bin_count: 3 lower_bound: 1 upper_bound: 1000 } } channel_count: 2 "
       "quantiles: [0.25, 0.5] out_of_range_policy: 2"},
      {kHistogram, &v1::ComputeHistogramRequest::default_instance(),
       "array { inline_array { element_type: 3 data: 'abcdefghijklmnop' } } "
       "bins { edges { edges: [1, 2, 4] } } bins { integer { first_value: -3 bin_count: 7 } } "
       "y_array { inline_array { element_type: 3 data: 'ponmlkjihgfedcba' } } "
       "weights { inline_array { element_type: 5 data: 'abcd' } } format: 2"},
      {kHistogram, &v1::ComputeHistogramRequest::default_instance(),
       "array { inline_array { element_type: 12 data: 'abcdefghijklmnop' } } "
       "bins { even { bin_count: 100 } } return_accumulator: true"},
      {kReduce, &v1::ReduceArrayRequest::default_instance(),
       "array { inline_array { element_type: 11 shape: [2, 2] data: 'abcdefghijklmnop' } } "
       "statistics: [4, 8, 9] grouping { axis: 0 } where { inline_array { element_type: 13 "
       "shape: 2 data: '\\000\\001' } } initial { double_value: 3 } "
       "empty_group { policy: 4 value { double_value: 1 } } fractional_degrees_of_freedom: 0.5"},
      {kQuantiles, &v1::ComputeQuantilesRequest::default_instance(),
       "array { inline_array { element_type: 11 shape: [2, 2] data: 'abcdefghijklmnop' } } "
       "quantiles: [0, 0.5, 1] ranks: 1 method: 2 grouping { axis: 1 } nan_policy: 2 "
       "keep_dimensions: true"},
      {kQuantiles, &v1::ComputeQuantilesRequest::default_instance(),
       absl::StrCat(Resident("array"), "quantiles: 0.25 method: 5")},
      {kTop, &v1::SelectTopRequest::default_instance(),
       "array { inline_array { element_type: 2 data: 'abcdefghijklmnop' } } count: 3 "
       "grouping { segments { offsets: [0, 4, 8] } }"},
      {kRelate, &v1::RelateArraysRequest::default_instance(),
       "x { inline_array { element_type: 11 shape: [2, 2] data: 'abcdefghijklmnop' } } "
       "y { inline_array { element_type: 11 shape: [2, 2] data: 'ponmlkjihgfedcba' } } "
       "weights { inline_array { element_type: 11 shape: [2, 2] data: 'abcdefghabcdefgh' } } "
       "statistics: [1, 2, 3, 4, 5] delta_degrees_of_freedom: 1 weight_kind: 2 nan_policy: 2"},
      {kRelate, &v1::RelateArraysRequest::default_instance(),
       absl::StrCat(Resident("x"), "statistics: [1, 3] overflow_policy: 2")},
      {kByKey, &v1::ReduceByKeyRequest::default_instance(),
       "keys { inline_array { element_type: 1 data: 'abca' } } "
       "values { inline_array { element_type: 3 data: 'abcdefghijklmnop' } } "
       "statistics: [1, 2, 4, 6, 8] range { first_key: 97 key_count: 4 } overflow_policy: 2 "
       "return_accumulator: true first_index: 5"},
      {kByKey, &v1::ReduceByKeyRequest::default_instance(),
       "keys { inline_array { element_type: 8 data: 'abcdefghijklmnop' } } "
       "values { inline_array { element_type: 12 data: 'abcdefghijklmnop' } } "
       "statistics: [2, 9] found { key_count_max: 9 } nan_policy: 2 "
       "delta_degrees_of_freedom: 1"},
      {kByKey, &v1::ReduceByKeyRequest::default_instance(),
       absl::StrCat(Resident("keys"), Resident("values"),
                    "statistics: 8 bins { bins { even { bin_count: 5 lower_bound: 0 "
                    "upper_bound: 9 } } ",
                    Resident("y_keys"), "out_of_range_policy: 2 }")},
      {kByKey, &v1::ReduceByKeyRequest::default_instance(),
       "keys { inline_array { element_type: 1 data: 'abca' } } "
       "values { inline_array { element_type: 3 data: 'abcdefghijklmnop' } } "
       "statistics: [2, 8] bins { bins { even { bin_count: 3 lower_bound: 0 upper_bound: 99 } } "
       "y_keys { inline_array { element_type: 2 data: 'abcdefgh' } } "
       "further_keys { inline_array { element_type: 5 data: 'abcd' } } "
       "further_keys { inline_array { element_type: 1 data: 'dcba' } } }"},
      {kMerge, &v1::MergeAccumulatorsRequest::default_instance(),
       absl::StrCat("accumulators: '", ReductionAccumulator(), "' accumulators: '",
                    ReductionAccumulator(), "'")},
      {kMerge, &v1::MergeAccumulatorsRequest::default_instance(),
       absl::StrCat("accumulators: '", HistogramAccumulator(), "' accumulators: '",
                    HistogramAccumulator(), "' partial: true")},
      {kSubtract, &v1::SubtractAccumulatorsRequest::default_instance(),
       absl::StrCat("minuend: '", HistogramAccumulator(), "' subtrahends: '",
                    HistogramAccumulator(), "'")},
      {kReduce, &v1::ReduceArrayRequest::default_instance(),
       absl::StrCat(Resident("array"), "statistics: [2, 8, 18] return_accumulator: true")},
      {kScan, &v1::ScanArrayRequest::default_instance(),
       absl::StrCat(Resident("array"),
                    "operation: 1 overflow_policy: 2 destination { "
                    "resident_array { idle_expiry { seconds: 1 } } }")},
      {kScan, &v1::ScanArrayRequest::default_instance(),
       absl::StrCat(Resident("array"),
                    "operation: 1 overflow_policy: 2 destination { in_place { } "
                    "}")},
      {kHistogram, &v1::ComputeHistogramRequest::default_instance(),
       absl::StrCat(Resident("array"), Resident("y_array"), Resident("weights"),
                    "bins { even { bin_count: 10 lower_bound: 0 upper_bound: 50 } }")},
      {kCreate, &v1::CreateArrayRequest::default_instance(),
       "element_type: 3 shape: [2, 3] idle_expiry { seconds: 1 nanos: 5 }"},
      {kWrite, &v1::WriteArrayRequest::default_instance(),
       absl::StrCat("header { name: '", kMutatorArray, "' } first_element: 0 data: 'abcdefgh'")},
      {kRead, &v1::ReadArrayRequest::default_instance(),
       absl::StrCat("array { name: '", kMutatorArray,
                    "' slice { first: 0 count: 1 } } chunk_bytes_max: 4096")},
      // Of few elements, which come in one message.
      {kRead, &v1::ReadArrayRequest::default_instance(),
       absl::StrCat("array ", ViewOfMatrix(), "chunk_bytes_max: 4096")},
      {kReduce, &v1::ReduceArrayRequest::default_instance(),
       absl::StrCat("array { resident_array ", ViewOfMatrix(),
                    "} statistics: [2, 7, 8] grouping { axes { axes: [1] } }")},
      {kScan, &v1::ScanArrayRequest::default_instance(),
       absl::StrCat("array { resident_array ", ViewOfMatrix(),
                    "} operation: 1 overflow_policy: 2 grouping { axis: 0 }")},
      {kGet, &v1::GetArrayRequest::default_instance(), absl::StrCat("name: '", kMutatorArray, "'")},
      {kList, &v1::ListArraysRequest::default_instance(), "page_size: 5 page_token: 'a'"},
      {kDelete, &v1::DeleteArrayRequest::default_instance(), "name: 'another'"},
      {kReduce, &v1::ReduceArrayRequest::default_instance(),
       absl::StrCat(InRegion("array"), "statistics: [2, 8, 18]")},
      {kScan, &v1::ScanArrayRequest::default_instance(),
       absl::StrCat(InRegion("array"),
                    "operation: 1 overflow_policy: 2 destination { region { name: '",
                    kMutatorRegion, "' offset_bytes: 8 } }")},
      {kRegister, &v1::RegisterRegionRequest::default_instance(),
       "size_bytes: 4096 posix_shared_memory { object_name: '/gridfold-nothing' } "
       "idle_expiry { seconds: 1 }"},
      {kUnregister, &v1::UnregisterRegionRequest::default_instance(), "name: 'another'"},
      {kListRegions, &v1::ListRegionsRequest::default_instance(), "page_size: 5"},
      {kBatch, &v1::BatchComputeRequest::default_instance(),
       absl::StrCat("operations { reduction { array { inline_array { element_type: 3 data: "
                    "'abcdefgh' } } statistics: [2, 4] first_index: 1 } } "
                    "operations { reduction { array { inline_array { element_type: 3 data: "
                    "'abcd' } } statistics: [2, 9] delta_degrees_of_freedom: 0 } } "
                    "operations { reduction { ",
                    Resident("array"),
                    "statistics: [2] return_accumulator: true } } "
                    "operations { scan { array { inline_array { element_type: 5 data: 'abcd' } } "
                    "operation: 1 } } operations { histogram { ",
                    Resident("array"),
                    "bins { even { bin_count: 4 lower_bound: 0 upper_bound: 9 } } "
                    "channel_count: 1 } } operations { keyed_reduction { keys { inline_array { "
                    "element_type: 5 data: 'abcb' } } values { inline_array { element_type: 5 "
                    "data: 'abcd' } } statistics: [2, 4] found { key_count_max: 4 } } }")},
  };
  return *kSeeds;
}

constexpr uint64_t kExtremes[] = {0,
                                  1,
                                  7,
                                  0x7F,
                                  0xFFFF,
                                  0x7FFF'FFFF,
                                  0x8000'0000,
                                  0xFFFF'FFFF,
                                  0x1'0000'0000,
                                  0x5555'5555'5555'5556,
                                  0x7FFF'FFFF'FFFF'FFFE,
                                  0x7FFF'FFFF'FFFF'FFFF,
                                  0x8000'0000'0000'0000,
                                  0xFFFF'FFFF'FFFF'FFFF};

constexpr double kExtremeDoubles[] = {0.0,
                                      -0.0,
                                      1e308,
                                      -1e308,
                                      5e-324,
                                      std::numeric_limits<double>::infinity(),
                                      -std::numeric_limits<double>::infinity(),
                                      std::numeric_limits<double>::quiet_NaN()};

// Sets a singular number, or appends to a repeated one.
void SetNumber(Message& message, const FieldDescriptor& field, uint64_t bits, double number) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  const bool repeated = field.is_repeated();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_UINT64:
      repeated ? reflection.AddUInt64(&message, &field, bits)
               : reflection.SetUInt64(&message, &field, bits);
      return;
    case FieldDescriptor::CPPTYPE_INT64:
      repeated ? reflection.AddInt64(&message, &field, static_cast<int64_t>(bits))
               : reflection.SetInt64(&message, &field, static_cast<int64_t>(bits));
      return;
    case FieldDescriptor::CPPTYPE_INT32:
      repeated ? reflection.AddInt32(&message, &field, static_cast<int32_t>(bits))
               : reflection.SetInt32(&message, &field, static_cast<int32_t>(bits));
      return;
    case FieldDescriptor::CPPTYPE_UINT32:
      repeated ? reflection.AddUInt32(&message, &field, static_cast<uint32_t>(bits))
               : reflection.SetUInt32(&message, &field, static_cast<uint32_t>(bits));
      return;
    case FieldDescriptor::CPPTYPE_ENUM:
      repeated ? reflection.AddEnumValue(&message, &field, static_cast<int>(bits))
               : reflection.SetEnumValue(&message, &field, static_cast<int>(bits));
      return;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      repeated ? reflection.AddDouble(&message, &field, number)
               : reflection.SetDouble(&message, &field, number);
      return;
    default: return;
  }
}

}  // namespace

RequestBytes RequestMutator::Next() {
  const Seed& seed = Seeds()[Below(Seeds().size())];
  // Now and then a message meets a method that is not its own.
  const char* const method = Below(20) == 0 ? Seeds()[Below(Seeds().size())].method : seed.method;
  if (Below(10) == 0) return {method, RandomBytes(300)};
  std::unique_ptr<Message> message(seed.prototype->New());
  google::protobuf::TextFormat::ParseFromString(seed.text, message.get());
  for (size_t changes = Below(3); changes > 0; --changes) MakeExtreme(*message);
  std::string bytes = message->SerializeAsString();
  for (size_t changes = Below(3); changes > 0; --changes) MutateBytes(bytes);
  return {method, bytes};
}

std::string RequestMutator::RandomBytes(size_t size_max) {
  std::string bytes(Below(size_max), '\0');
  for (char& byte : bytes) byte = static_cast<char>(random_());
  return bytes;
}

std::string RequestMutator::ExtremeVarint() {
  uint64_t value = kExtremes[Below(std::size(kExtremes))];
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

void RequestMutator::MakeExtreme(Message& message) {
  const google::protobuf::Descriptor& type = *message.GetDescriptor();
  if (type.field_count() == 0) return;
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  const FieldDescriptor& field = *type.field(static_cast<int>(Below(type.field_count())));
  if (field.message_type() == nullptr) {
    SetNumber(message, field, kExtremes[Below(std::size(kExtremes))],
              kExtremeDoubles[Below(std::size(kExtremeDoubles))]);
  } else if (!field.is_repeated()) {
    MakeExtreme(*reflection.MutableMessage(&message, &field));
  } else if (const int size = reflection.FieldSize(message, &field); size > 0) {
    MakeExtreme(
        *reflection.MutableRepeatedMessage(&message, &field, static_cast<int>(Below(size))));
  } else {
    reflection.AddMessage(&message, &field);
  }
}

void RequestMutator::MutateBytes(std::string& bytes) {
  const size_t position = Below(bytes.size() + 1);
  switch (Below(6)) {
    case 0: bytes.resize(position); return;
    case 1:
      if (position < bytes.size()) bytes[position] = static_cast<char>(random_());
      return;
    case 2:
      if (position < bytes.size()) bytes[position] ^= static_cast<char>(1 << Below(8));
      return;
    // Over a length or a count: a size that lies.
    case 3: bytes.replace(position, 1 + Below(2), ExtremeVarint()); return;
    case 4: bytes.insert(position, RandomBytes(20)); return;
    default: bytes.insert(position, bytes.substr(Below(bytes.size() + 1), 50)); return;
  }
}

}  // namespace gridfold::server

// One question in every form that it can be asked in, over real sockets: of an inline, a resident
// array or one in a region, in a stream cut at random, in a batch, and of parts whose accumulators
// are merged. Random questions, of any type and shape, odd ones among them: all forms agree, bit
// for bit, errors included.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "server/testing/random_questions.h"
#include "server/testing/region_service_fixture.h"
#include "server/testing/stream_caller.h"

namespace gridfold::server {
namespace {

// What a caller has got: bytes, or an error's code, reason and field.
struct Outcome {
  grpc::StatusCode code = grpc::StatusCode::OK;
  std::string reason;
  std::string field;
  std::string bytes;

  bool operator==(const Outcome&) const = default;
};

std::string Text(const Outcome& outcome) {
  if (outcome.code != grpc::StatusCode::OK) {
    return absl::StrCat("code ", outcome.code, " ", outcome.reason, " of '", outcome.field, "'");
  }
  return absl::StrCat("an answer of ", outcome.bytes.size(), " bytes, ",
                      std::hash<std::string>()(outcome.bytes));
}

// Fields of a stream's request are named from its message on.
Outcome FailureOf(const grpc::Status& status) {
  const ErrorDetails details = DecodeDetails(status);
  return {status.error_code(), details.reason(),
          std::string(absl::StripPrefix(details.field(), "request.")), ""};
}
Outcome FailureOf(const v1::RpcStatus& error) {
  return FailureOf(grpc::Status(static_cast<grpc::StatusCode>(error.code()), error.message(),
                                error.SerializeAsString()));
}

template <class Response>
Outcome OutcomeOf(const grpc::Status& status, Response response) {
  if (!status.ok()) return FailureOf(status);
  response.clear_execution();
  return {.code = grpc::StatusCode::OK,
          .reason = "",
          .field = "",
          .bytes = response.SerializeAsString()};
}

class FormsAgreeTest : public RegionServiceTest, protected RandomQuestions {
 protected:
  static constexpr uint64_t kRegionBytes = 1 << 16;

  void SetUp() override {
    ASSERT_TRUE(Register("x", x_).ok());
    ASSERT_TRUE(Register("y", y_).ok());
    ASSERT_TRUE(Register("w", w_).ok());
  }

  // --- The forms of an array.

  v1::ArraySource PutResident(const std::string& name, const Elements& array) {
    EXPECT_TRUE(caller_.Create(name, array.type, array.shape).ok());
    EXPECT_TRUE(caller_.Write(name, {Chunk(0, array.bytes)}).ok());
    return Resident(name);
  }
  v1::ArraySource PutInRegion(const std::string& name, const SharedObject& object,
                              const Elements& array) {
    EXPECT_LE(array.bytes.size(), kRegionBytes);
    std::copy(array.bytes.begin(), array.bytes.end(), object.data());
    return InRegion(name, array.type, 0, array.shape);
  }

  static void ExpectAgree(const Outcome& expected, const Outcome& actual, const char* form) {
    EXPECT_TRUE(expected == actual)
        << form << ": " << Text(actual) << ", where inline: " << Text(expected);
  }

  template <class Request>
  Outcome Ask(const Request& request) {
    const grpc::Status status = caller_.Compute(request);
    if constexpr (std::is_same_v<Request, v1::ReduceArrayRequest>) {
      return OutcomeOf(status, caller_.reduced);
    } else if constexpr (std::is_same_v<Request, v1::ScanArrayRequest>) {
      return OutcomeOf(status, caller_.scanned);
    } else {
      return OutcomeOf(status, caller_.counted);
    }
  }

  // Three operations, of which the second is the question.
  template <class Request>
  Outcome AskInBatch(const Request& request) {
    v1::BatchComputeRequest batch;
    for (int i = 0; i < 3; ++i) {
      v1::BatchOperation& operation = *batch.add_operations();
      if (i != 1) {
        *operation.mutable_reduction() = SmallReduction();
      } else if constexpr (std::is_same_v<Request, v1::ReduceArrayRequest>) {
        *operation.mutable_reduction() = request;
      } else if constexpr (std::is_same_v<Request, v1::ScanArrayRequest>) {
        *operation.mutable_scan() = request;
      } else {
        *operation.mutable_histogram() = request;
      }
    }
    v1::BatchComputeResponse response;
    const grpc::Status status =
        server_.compute().BatchCompute(caller_.MakeContext().get(), batch, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    const v1::BatchResult& result = response.results(1);
    if (result.has_error()) return FailureOf(result.error());
    if constexpr (std::is_same_v<Request, v1::ReduceArrayRequest>) {
      return OutcomeOf(status, result.reduction());
    } else if constexpr (std::is_same_v<Request, v1::ScanArrayRequest>) {
      return OutcomeOf(status, result.scan());
    } else {
      return OutcomeOf(status, result.histogram());
    }
  }

  // The message of a stream that brings the next bytes of each array, where there are any; the last
  // message says how many elements there were.
  template <class Message, class Request>
  std::vector<Message> StreamOf(const Request& request, const Elements& array) {
    std::vector<Message> messages(1);
    *messages[0].mutable_request() = request;
    for (const std::string& piece : RandomPieces(array.bytes, random_)) {
      messages.emplace_back().set_data(piece);
    }
    if (OneIn(2)) messages[OneIn(2) ? 0 : messages.size() - 1].set_element_count(array.count());
    return messages;
  }

  // --- Merged parts.

  // An answer for all of the parts' accumulators; the first error of a part.
  template <class Request>
  Outcome AskInParts(Request request, const Elements& array, uint64_t unit) {
    request.set_return_accumulator(true);
    const uint64_t size = array.shape[0];
    std::vector<uint64_t> cuts = {0, size};
    for (uint64_t i = random_() % 3; i > 0; --i)
      cuts.push_back(random_() % (size / unit + 1) * unit);
    std::sort(cuts.begin(), cuts.end());
    v1::MergeAccumulatorsRequest merge;
    for (size_t p = 0; p + 1 < cuts.size(); ++p) {
      *request.mutable_array() = array.Inline(cuts[p], cuts[p + 1] - cuts[p]);
      if constexpr (std::is_same_v<Request, v1::ReduceArrayRequest>) {
        request.set_first_index(cuts[p]);
        const grpc::Status status = caller_.Compute(request);
        if (!status.ok()) return FailureOf(status);
        merge.add_accumulators(caller_.reduced.accumulator());
      } else {
        const grpc::Status status = caller_.Compute(request);
        if (!status.ok()) return FailureOf(status);
        merge.add_accumulators(caller_.counted.accumulator());
      }
    }
    if constexpr (std::is_same_v<Request, v1::ReduceArrayRequest>) {
      merge.set_output_type(request.output_type());
    }
    std::shuffle(merge.mutable_accumulators()->begin(), merge.mutable_accumulators()->end(),
                 random_);
    v1::MergeAccumulatorsResponse response;
    const grpc::Status status =
        server_.compute().MergeAccumulators(caller_.MakeContext().get(), merge, &response);
    if (response.has_reduction()) return OutcomeOf(status, response.reduction());
    return OutcomeOf(status, response.histogram());
  }

  // The merge is the answer of a call that returns the whole's accumulator. Of an error only the
  // code is the same: a merge names the accumulators.
  template <class Request>
  void ExpectPartsAgree(Request request, const Elements& array, uint64_t unit) {
    const Outcome whole = Ask(request);
    request.set_return_accumulator(true);
    Outcome with_accumulator = Ask(request);
    if constexpr (std::is_same_v<Request, v1::ReduceArrayRequest>) {
      // Accumulators do not know the result's shape.
      caller_.reduced.clear_result_shape();
      if (with_accumulator.code == grpc::StatusCode::OK) {
        with_accumulator = OutcomeOf(grpc::Status::OK, caller_.reduced);
      }
    }
    const Outcome merged = AskInParts(request, array, unit);
    // A part that overflows is an error although the whole may not.
    if (merged.reason == kReasonIntegerOverflow) return;
    EXPECT_EQ(merged.code, whole.code) << Text(merged) << ", where whole: " << Text(whole);
    if (whole.code == grpc::StatusCode::OK) ExpectAgree(with_accumulator, merged, "merged");
  }

  const SharedObject x_{kRegionBytes};
  const SharedObject y_{kRegionBytes};
  const SharedObject w_{kRegionBytes};
};

TEST_F(FormsAgreeTest, Reductions) {
  int answered = 0;
  for (int round = 0; round < 400 && !HasFailure(); ++round) {
    const Elements array = AnyArray(AnyType(), /*may_be_matrix=*/true);
    v1::ReduceArrayRequest request = AnyReduction(array);
    SCOPED_TRACE(absl::StrCat("round ", round, ", shape ", absl::StrJoin(array.shape, "x"), ": ",
                              request.ShortDebugString()));
    *request.mutable_array() = array.Inline();
    const Outcome expected = Ask(request);
    answered += expected.code == grpc::StatusCode::OK ? 1 : 0;
    ExpectAgree(expected, AskInBatch(request), "batch");
    *request.mutable_array() = PutResident("array", array);
    ExpectAgree(expected, Ask(request), "resident");
    ASSERT_TRUE(caller_.Delete("array").ok());
    *request.mutable_array() = PutInRegion("x", x_, array);
    ExpectAgree(expected, Ask(request), "region");

    const auto& statistics = request.statistics();
    const bool has_product =
        std::find(statistics.begin(), statistics.end(), v1::STATISTIC_PRODUCT) != statistics.end();
    // Streams have no products of floating-point elements, and no matrix without columns.
    const bool streams = !(has_product && IsFloating(array.type));
    if (streams && !(array.shape.size() == 2 && array.columns() == 0)) {
      *request.mutable_array() = Streamed(array.type, array.columns());
      v1::ReduceStreamResponse response;
      const grpc::Status status =
          Send(server_, StreamOf<v1::ReduceStreamRequest>(request, array), response);
      // What only the end of the array shows comes behind other faults, where there are several.
      const auto& offsets = request.grouping().segments().offsets();
      const bool ends_elsewhere = !offsets.empty() && *offsets.rbegin() != array.count();
      if (ends_elsewhere || request.first_index() > kMax / 2) {
        EXPECT_EQ(status.error_code(), expected.code) << status.error_message();
      } else {
        ExpectAgree(expected, OutcomeOf(status, response.result()), "stream");
      }
    }
    const bool by_units = !request.has_grouping() || request.grouping().axis() == 0;
    if (streams && by_units && !request.grouping().has_segments()) {
      *request.mutable_array() = array.Inline();
      request.clear_first_index();
      // Of a matrix that is one group indices count elements, and parts begin with rows.
      if (request.has_grouping() || array.shape.size() == 1) ExpectPartsAgree(request, array, 1);
    }
  }
  EXPECT_GT(answered, 100);
}

// Whether the reduced dimensions come all before the kept ones, or all behind them, which is what
// rows that follow one another are enough for; extents of 1 are either, but that of the first
// dimension, which a stream's beginning does not know.
bool StreamsRows(const std::vector<uint64_t>& shape, const std::set<size_t>& reduced) {
  std::string pattern;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (d == 0 || shape[d] != 1) pattern += reduced.contains(d) ? 'R' : 'K';
  }
  return pattern.find("RK") == std::string::npos || pattern.find("KR") == std::string::npos;
}

TEST_F(FormsAgreeTest, StreamsOfSeveralDimensions) {
  int streamed = 0;
  for (int round = 0; round < 300 && !HasFailure(); ++round) {
    const Elements array = AnyTensor(AnyType());
    v1::ReduceArrayRequest request = AnyReduction(array);
    request.clear_first_index();
    std::set<size_t> reduced;
    auto& axes = *request.mutable_grouping()->mutable_axes();
    for (size_t d = 0; d < array.shape.size(); ++d) {
      if (OneIn(2)) continue;
      reduced.insert(d);
      axes.add_axes(static_cast<int32_t>(OneIn(2) ? d : d - array.shape.size()));
    }
    if (OneIn(2)) request.set_keep_dimensions(true);
    const auto& statistics = request.statistics();
    if (IsFloating(array.type) && std::find(statistics.begin(), statistics.end(),
                                            v1::STATISTIC_PRODUCT) != statistics.end()) {
      continue;
    }
    SCOPED_TRACE(absl::StrCat("round ", round, ", shape ", absl::StrJoin(array.shape, "x"), ": ",
                              request.ShortDebugString()));
    *request.mutable_array() = array.Inline();
    const Outcome expected = Ask(request);
    *request.mutable_array() = Streamed(array.type);
    for (size_t d = 1; d < array.shape.size(); ++d) {
      request.mutable_array()->mutable_streamed_array()->add_row_shape(array.shape[d]);
    }
    v1::ReduceStreamResponse response;
    const grpc::Status status =
        Send(server_, StreamOf<v1::ReduceStreamRequest>(request, array), response);
    if (StreamsRows(array.shape, reduced)) {
      ExpectAgree(expected, OutcomeOf(status, response.result()), "stream");
      streamed += status.ok() ? 1 : 0;
    } else {
      EXPECT_EQ(FailureOf(status).field, "grouping.axes");
    }
  }
  EXPECT_GT(streamed, 50);
}

TEST_F(FormsAgreeTest, Histograms) {
  int answered = 0;
  for (int round = 0; round < 300 && !HasFailure(); ++round) {
    const v1::ElementType type = AnyType();
    Elements array = AnyArray(type, /*may_be_matrix=*/false);
    v1::ComputeHistogramRequest request;
    const uint32_t channels = OneOf<uint32_t>({0, 1, 1, 2, 3});
    const bool has_y = channels <= 1 && OneIn(3);
    const bool has_weights = OneIn(4);
    if (channels > 1 && !OneIn(10)) {
      array.shape[0] -= array.shape[0] % channels;
      array.bytes.resize(array.shape[0] * array.element_bytes());
    }
    Elements y = array;
    y.bytes = AnyBytes(type, array.count());
    Elements weights = array;
    weights.type = AnyType();
    weights.bytes = AnyBytes(weights.type, array.count());
    request.set_channel_count(channels);
    *request.add_bins() = AnyBins(type);
    if ((has_y || channels == 2) && OneIn(2)) *request.add_bins() = AnyBins(type);
    if (OneIn(3)) request.set_out_of_range_policy(v1::OUT_OF_RANGE_POLICY_CLAMP);
    if (OneIn(3)) request.set_format(v1::HISTOGRAM_FORMAT_SPARSE);
    if (OneIn(6)) request.add_quantiles(0.5);
    SCOPED_TRACE(absl::StrCat("round ", round, ", ", array.shape[0], " of ",
                              v1::ElementType_Name(type), ": ", request.ShortDebugString()));

    const auto set_arrays = [&](const v1::ArraySource& x_source, const v1::ArraySource& y_source,
                                const v1::ArraySource& w_source) {
      *request.mutable_array() = x_source;
      if (has_y) *request.mutable_y_array() = y_source;
      if (has_weights) *request.mutable_weights() = w_source;
    };
    set_arrays(array.Inline(), y.Inline(), weights.Inline());
    const Outcome expected = Ask(request);
    answered += expected.code == grpc::StatusCode::OK ? 1 : 0;
    ExpectAgree(expected, AskInBatch(request), "batch");
    set_arrays(PutResident("x", array), PutResident("y", y), PutResident("w", weights));
    ExpectAgree(expected, Ask(request), "resident");
    for (const char* name : {"x", "y", "w"}) ASSERT_TRUE(caller_.Delete(name).ok());
    set_arrays(PutInRegion("x", x_, array), PutInRegion("y", y_, y), PutInRegion("w", w_, weights));
    ExpectAgree(expected, Ask(request), "region");

    const bool is_automatic = std::any_of(
        request.bins().begin(), request.bins().end(),
        [](const auto& bins) { return bins.has_even() && !bins.even().has_lower_bound(); });
    if (is_automatic) continue;
    set_arrays(Streamed(type), Streamed(type), Streamed(weights.type));
    auto messages = StreamOf<v1::HistogramStreamRequest>(request, array);
    if (has_y) messages[random_() % messages.size()].set_y_data(y.bytes);
    if (has_weights) messages[random_() % messages.size()].set_weights(weights.bytes);
    v1::HistogramStreamResponse response;
    const grpc::Status status = Send(server_, messages, response);
    if (expected.field == "channel_count") {
      EXPECT_EQ(status.error_code(), expected.code) << status.error_message();
    } else {
      ExpectAgree(expected, OutcomeOf(status, response.result()), "stream");
    }
    if (has_y || has_weights) continue;
    set_arrays(array.Inline(), {}, {});
    ExpectPartsAgree(request, array, std::max<uint64_t>(channels, 1));
  }
  EXPECT_GT(answered, 80);
}

TEST_F(FormsAgreeTest, Scans) {
  // A stream's results come in messages of more than 1 MiB.
  Limits roomy = RegionLimits();
  roomy.message_bytes_max = 8 * kMiB;
  TestServer streams_server(*engine_, roomy);
  int answered = 0;
  for (int round = 0; round < 300 && !HasFailure(); ++round) {
    const Elements array = AnyArray(AnyType(), /*may_be_matrix=*/true);
    v1::ScanArrayRequest request;
    request.set_operation(static_cast<v1::ScanOperation>(1 + random_() % 4));
    request.set_mode(static_cast<v1::ScanMode>(random_() % 3));
    if (OneIn(4)) request.set_direction(v1::SCAN_DIRECTION_REVERSE);
    if (OneIn(2)) request.set_nan_policy(v1::NAN_POLICY_IGNORE);
    if (OneIn(2)) request.set_overflow_policy(v1::OVERFLOW_POLICY_WRAP);
    if (OneIn(5)) request.set_output_type(OneIn(2) ? array.type : AnyType());
    if (OneIn(5)) request.set_exact(true);
    if (array.shape.size() == 2 && OneIn(2)) {
      request.mutable_grouping()->set_axis(static_cast<uint32_t>(random_() % 2));
    }
    SCOPED_TRACE(absl::StrCat("round ", round, ", shape ", absl::StrJoin(array.shape, "x"), " of ",
                              v1::ElementType_Name(array.type), ": ", request.ShortDebugString()));
    *request.mutable_array() = array.Inline();
    const Outcome expected = Ask(request);
    const v1::InlineArray inline_result = caller_.scanned.inline_array();
    answered += expected.code == grpc::StatusCode::OK ? 1 : 0;
    ExpectAgree(expected, AskInBatch(request), "batch");
    *request.mutable_array() = PutResident("array", array);
    ExpectAgree(expected, Ask(request), "resident");
    ASSERT_TRUE(caller_.Delete("array").ok());
    *request.mutable_array() = PutInRegion("x", x_, array);
    ExpectAgree(expected, Ask(request), "region");

    const bool streams =
        array.shape.size() == 1 && request.direction() != v1::SCAN_DIRECTION_REVERSE;
    if (!streams) continue;
    *request.mutable_array() = Streamed(array.type);
    std::vector<v1::ScanStreamResponse> answers;
    const grpc::Status status =
        Send(streams_server, StreamOf<v1::ScanStreamRequest>(request, array), answers);
    if (!status.ok() || expected.code != grpc::StatusCode::OK) {
      ExpectAgree(Outcome{expected.code, expected.reason, expected.field, ""}, FailureOf(status),
                  "stream");
      continue;
    }
    std::string bytes;
    for (const v1::ScanStreamResponse& answer : answers) bytes += answer.data();
    EXPECT_EQ(bytes, inline_result.data());
    EXPECT_EQ(answers.back().element_type(), inline_result.element_type());
  }
  EXPECT_GT(answered, 80);
}

}  // namespace
}  // namespace gridfold::server

// Answers in the form of Prometheus's API: {"status":"success","data":…} or "error" with a type.
//
// Numbers, times and label sets are written as Prometheus writes them, so that clients that read
// text find the same. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "base/result.h"
#include "promql/query_value.h"
#include "serve/http_message.h"

namespace gpusight::serve {

// Prometheus's kinds of error, each with its HTTP status.
enum class PromError : uint8_t {
  kBadData,      // 400: a parameter or the query is wrong
  kExecution,    // 422: the query cannot be answered, or a limit was reached
  kCanceled,     // 503
  kTimeout,      // 503
  kInternal,     // 500: what is stored cannot be read
  kUnavailable,  // 503: not now
};
Response prom_error(PromError error, std::string_view message);

// Remarks on an answer.
struct PromRemarks {
  std::vector<std::string> warnings;
  std::vector<std::string> infos;
};
// At most ten of each, as Prometheus; the rest is counted.
PromRemarks remarks_of(const promql::Annotations& annotations, std::string_view query);

// The text of an answer: give "data" its value between begin and finish.
class PromText {
 public:
  PromText() : writer_(text_) {
    writer_.begin_object().key("status").string("success").key("data");
  }
  PromText(const PromText&) = delete;  // the writer knows where the text is
  PromText& operator=(const PromText&) = delete;

  JsonWriter& data() { return writer_; }
  size_t size() const { return text_.size(); }
  std::string finish(const PromRemarks& remarks = {});

 private:
  std::string text_;
  JsonWriter writer_;
};
Response prom_response(std::string text);

void append_metric(JsonWriter& json, const model::Labels& labels);
// "resultType" and "result", inside an object. Fails with kExhausted once `text` is longer than
// max_bytes.
Status append_result(PromText& text, const promql::QueryResult& result, size_t max_bytes);

// "1.5", "1e+21", "NaN", "+Inf": a sample's value, without its quotes. (A scalar has no exponent.)
std::string prom_number(double number);
// Seconds with at most three places: 1435781451.781
std::string prom_time(int64_t time_ms);

}  // namespace gpusight::serve

// What Prometheus's API answers to a query, read for showing. Plain values; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gpusight::cli {

struct QueryAnswer {
  struct Row {
    std::map<std::string, std::string> labels;
    int64_t time_ms = 0;
    std::string value;  // as the API writes it: "1.5", "NaN"
  };
  std::vector<Row> rows;             // series by series, each in time order
  std::vector<std::string> remarks;  // warnings, then infos
  std::string error;                 // why there is no answer; else empty
  bool is_query_wrong = false;       // with error: the expression or a time is at fault
};

// kCorrupt for what is no answer of that API.
Result<QueryAnswer> read_query_answer(std::string_view json);

}  // namespace gpusight::cli

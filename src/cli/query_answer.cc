#include "cli/query_answer.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace gpusight::cli {
namespace {

using Json = nlohmann::json;

// A text of the answer as a terminal may show it.
std::string text_of(const Json& json) {
  return clean_text(json.get_ref<const std::string&>(), 4096);
}

void add_point(const Json& point, const std::map<std::string, std::string>& labels,
               QueryAnswer& answer) {
  answer.rows.push_back({.labels = labels,
                         .time_ms = std::llround(point.at(0).get<double>() * 1000),
                         .value = text_of(point.at(1))});
}

void add_series(const Json& series, QueryAnswer& answer) {
  std::map<std::string, std::string> labels;
  for (const auto& [name, value] : series.at("metric").items()) {
    labels.emplace(clean_text(name), text_of(value));
  }
  if (series.contains("value")) return add_point(series.at("value"), labels, answer);
  for (const Json& point : series.at("values")) add_point(point, labels, answer);
}

void read_error(const Json& document, QueryAnswer& answer) {
  answer.error = text_of(document.at("error"));
  answer.is_query_wrong = document.at("errorType") == "bad_data";
}

void read_result(const Json& data, QueryAnswer& answer) {
  const Json& result = data.at("result");
  const std::string& type = data.at("resultType").get_ref<const std::string&>();
  if (type == "scalar" || type == "string") return add_point(result, {}, answer);
  for (const Json& series : result) add_series(series, answer);
}

}  // namespace

Result<QueryAnswer> read_query_answer(std::string_view json) {
  QueryAnswer answer;
  // Types and members that are not what they should be throw.
  try {
    const Json document = Json::parse(json);
    if (document.at("status") == "error") {
      read_error(document, answer);
    } else {
      read_result(document.at("data"), answer);
    }
    for (const char* key : {"warnings", "infos"}) {
      if (!document.contains(key)) continue;
      for (const Json& remark : document.at(key)) answer.remarks.push_back(text_of(remark));
    }
  } catch (const Json::exception& e) {
    return Status(Code::kCorrupt, clean_text(e.what()));
  }
  return answer;
}

}  // namespace gpusight::cli

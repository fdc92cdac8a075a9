#include "promql/rules/rule_test_file.h"

#include <chrono>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "promql/go_text.h"
#include "promql/rules/yaml_reader.h"

namespace gpusight::promql {
namespace {

using Entry = YamlValue::Entry;

// Two or more digits at the beginning of `text`, which are taken away with the sign behind them.
std::optional<int> take_number(std::string_view& text, size_t digits, char behind) {
  if (text.size() < digits) return std::nullopt;
  const auto number = parse_int(text.substr(0, digits));
  if (!number || *number < 0 ||
      text.substr(0, digits).find_first_of(" +") != std::string_view::npos) {
    return std::nullopt;
  }
  text.remove_prefix(digits);
  if (behind != '\0') {
    if (!text.starts_with(behind)) return std::nullopt;
    text.remove_prefix(1);
  }
  return static_cast<int>(*number);
}

// "Z", "+02:00" or "-0130" in minutes east.
std::optional<int> zone_minutes(std::string_view text) {
  if (text == "Z" || text == "z") return 0;
  if (text.size() != 6 || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  const int sign = text[0] == '-' ? -1 : 1;
  text.remove_prefix(1);
  const auto hours = take_number(text, 2, ':');
  const auto minutes = take_number(text, 2, '\0');
  if (!hours || !minutes || *hours > 24 || *minutes > 59) return std::nullopt;
  return sign * (*hours * 60 + *minutes);
}

// 2026-11-30T19:48:22.5Z and the like, in milliseconds.
std::optional<int64_t> parse_rfc3339(std::string_view text) {
  const auto year = take_number(text, 4, '-');
  const auto month = year ? take_number(text, 2, '-') : std::nullopt;
  const auto day = month ? take_number(text, 2, 'T') : std::nullopt;
  const auto hour = day ? take_number(text, 2, ':') : std::nullopt;
  const auto minute = hour ? take_number(text, 2, ':') : std::nullopt;
  const auto second = minute ? take_number(text, 2, '\0') : std::nullopt;
  if (!second || *hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  double fraction = 0;
  if (text.starts_with('.')) {
    const size_t end = text.find_first_not_of("0123456789", 1);
    const auto parsed = parse_double("0" + std::string(text.substr(0, end)));
    if (end < 2 || end == std::string_view::npos || !parsed) return std::nullopt;
    fraction = *parsed;
    text.remove_prefix(end);
  }
  const auto zone = zone_minutes(text);
  if (!zone) return std::nullopt;
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const int64_t seconds = ((days * 24 + *hour) * 60 + *minute - *zone) * 60 + *second;
  return seconds * 1000 + static_cast<int64_t>(fraction * 1000);
}

class Reader {
 public:
  RuleTestFile read(const YamlValue& root) {
    yaml_.map(root, "a rule test file", [&](const Entry& entry) {
      const YamlValue& value = *entry.value;
      if (entry.key == "rule_files") {
        file_.rule_files = yaml_.texts(value);
      } else if (entry.key == "evaluation_interval") {
        if (const int64_t ms = yaml_.duration_ms(value); ms != 0) file_.evaluation_interval_ms = ms;
      } else if (entry.key == "group_eval_order") {
        file_.group_eval_order = yaml_.texts(value);
      } else if (entry.key == "fuzzy_compare") {
        file_.fuzzy_compare = yaml_.flag(value);
      } else if (entry.key == "tests") {
        yaml_.sequence(value, "a sequence of tests",
                       [&](const YamlValue& test) { read_test(test); });
      } else {
        return false;
      }
      return true;
    });
    for (RuleTestFile::Test& test : file_.tests) {
      if (test.interval_ms == 0) test.interval_ms = file_.evaluation_interval_ms;
    }
    file_.faults = yaml_.faults();
    return std::move(file_);
  }

 private:
  void read_test(const YamlValue& value) {
    RuleTestFile::Test test;
    yaml_.map(value, "a test", [&](const Entry& entry) { return test_field(test, entry); });
    file_.tests.push_back(std::move(test));
  }

  bool test_field(RuleTestFile::Test& test, const Entry& entry) {
    const YamlValue& value = *entry.value;
    if (entry.key == "name") {
      test.name = yaml_.text(value);
    } else if (entry.key == "interval") {
      test.interval_ms = yaml_.duration_ms(value);
    } else if (entry.key == "input_series") {
      yaml_.sequence(value, "a sequence of series",
                     [&](const YamlValue& series) { read_series(test, series); });
    } else if (entry.key == "alert_rule_test") {
      yaml_.sequence(value, "a sequence of alert tests",
                     [&](const YamlValue& one) { read_alert_case(test, one); });
    } else if (entry.key == "promql_expr_test") {
      yaml_.sequence(value, "a sequence of expression tests",
                     [&](const YamlValue& one) { read_expr_case(test, one); });
    } else if (entry.key == "external_labels") {
      test.external_labels = yaml_.labels(value);
    } else if (entry.key == "external_url") {
      test.external_url = yaml_.text(value);
    } else if (entry.key == "start_timestamp") {
      test.start_ms = time_ms(value);
    } else {
      return false;
    }
    return true;
  }

  void read_series(RuleTestFile::Test& test, const YamlValue& value) {
    RuleTestFile::Series series{.place = value.place};
    yaml_.map(value, "a series", [&](const Entry& entry) {
      if (entry.key == "series") {
        series.series = yaml_.text(*entry.value);
      } else if (entry.key == "values") {
        series.values = yaml_.text(*entry.value);
      } else {
        return false;
      }
      return true;
    });
    test.input.push_back(std::move(series));
  }

  void read_alert_case(RuleTestFile::Test& test, const YamlValue& value) {
    RuleTestFile::AlertCase read;
    yaml_.map(value, "an alert test", [&](const Entry& entry) {
      if (entry.key == "eval_time") {
        read.eval_time_ms = yaml_.duration_ms(*entry.value);
      } else if (entry.key == "alertname") {
        read.alertname = yaml_.text(*entry.value);
      } else if (entry.key == "exp_alerts") {
        yaml_.sequence(*entry.value, "a sequence of alerts",
                       [&](const YamlValue& alert) { read_alert(read, alert); });
      } else {
        return false;
      }
      return true;
    });
    test.alert_cases.push_back(std::move(read));
  }

  void read_alert(RuleTestFile::AlertCase& into, const YamlValue& value) {
    RuleTestFile::ExpectedAlert alert;
    yaml_.map(value, "an alert", [&](const Entry& entry) {
      if (entry.key == "exp_labels") {
        alert.labels = yaml_.labels(*entry.value);
      } else if (entry.key == "exp_annotations") {
        alert.annotations = yaml_.labels(*entry.value);
      } else {
        return false;
      }
      return true;
    });
    into.alerts.push_back(std::move(alert));
  }

  void read_expr_case(RuleTestFile::Test& test, const YamlValue& value) {
    RuleTestFile::ExprCase read;
    yaml_.map(value, "an expression test", [&](const Entry& entry) {
      if (entry.key == "expr") {
        read.expr = yaml_.text(*entry.value);
      } else if (entry.key == "eval_time") {
        read.eval_time_ms = yaml_.duration_ms(*entry.value);
      } else if (entry.key == "exp_samples") {
        yaml_.sequence(*entry.value, "a sequence of samples",
                       [&](const YamlValue& sample) { read_sample(read, sample); });
      } else {
        return false;
      }
      return true;
    });
    test.expr_cases.push_back(std::move(read));
  }

  void read_sample(RuleTestFile::ExprCase& into, const YamlValue& value) {
    RuleTestFile::ExpectedSample sample;
    yaml_.map(value, "a sample", [&](const Entry& entry) {
      if (entry.key == "labels") {
        sample.labels = yaml_.text(*entry.value);
      } else if (entry.key == "value") {
        sample.value = yaml_.number(*entry.value);
      } else if (entry.key == "histogram") {
        sample.histogram = yaml_.text(*entry.value);
      } else {
        return false;
      }
      return true;
    });
    into.samples.push_back(std::move(sample));
  }

  // Seconds since 1970 or a date in RFC 3339.
  int64_t time_ms(const YamlValue& value) {
    const std::string text = yaml_.text(value);
    if (text.empty()) return 0;
    constexpr double kMostSeconds = 1e13;
    const auto seconds = parse_double(text);
    if (seconds && std::abs(*seconds) < kMostSeconds) {
      return static_cast<int64_t>(std::floor(*seconds * 1000));
    }
    const auto date = parse_rfc3339(text);
    if (!date) {
      yaml_.note(value.place, fmt::format("cannot parse {} to a valid timestamp", go_quoted(text)));
    }
    return date.value_or(0);
  }

  YamlReader yaml_;
  RuleTestFile file_;
};

}  // namespace

RuleTestFile parse_rule_test_file(std::string_view text) {
  const YamlDocument document = parse_yaml(text);
  if (document.root != nullptr) return Reader().read(*document.root);
  RuleTestFile unusable;
  unusable.faults.push_back(document.fault);
  return unusable;
}

}  // namespace gpusight::promql

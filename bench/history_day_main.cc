// bench_history_day columns|varying|import|import-varying sim|noisy SECONDS [SHIFT [METRIC...]]
//
// Writes a day of history (history_day.h) to standard output, for programs to be compared with:
//   columns         its numbers column after column, 64 bits each, lowest byte first
//   import          lines for VictoriaMetrics's /api/v1/import
//   varying, import-varying  the same without the columns that never change
// Times are SHIFT seconds later than they are; with METRIC, only those are written.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "base/check.h"
#include "catalog/metric.h"
#include "history_day.h"

namespace gpusight::bench {
namespace {

void write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written < 0) {
      std::perror("bench_history_day");
      std::exit(1);
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

void append_number(std::string& out, double number) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, number).ptr;
  out.append(text, end);
}

void append_number(std::string& out, int64_t number) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, number).ptr;
  out.append(text, end);
}

void write_import(const DayGroup& group, const DayColumn& column, int64_t shift_ms) {
  constexpr size_t kLine = 10'000;  // samples
  const catalog::MetricRow* row = catalog::find_metric(column.metric);
  CHECK(row != nullptr, "a metric of the catalogue");
  for (size_t begin = 0; begin < column.quanta.size(); begin += kLine) {
    const size_t end = std::min(begin + kLine, column.quanta.size());
    std::string line = R"({"metric":{"__name__":")" + column.metric + R"(","uuid":")" + group.uuid;
    if (!column.label.empty()) line += R"(",")" + std::string(row->label) + R"(":")" + column.label;
    line += R"("},"values":[)";
    for (size_t i = begin; i < end; ++i) {
      append_number(line, catalog::value_of(*row, column.quanta[i]));
      line += ',';
    }
    line.back() = ']';
    line += R"(,"timestamps":[)";
    for (size_t i = begin; i < end; ++i) {
      append_number(line, group.times_ms[i] + shift_ms);
      line += ',';
    }
    line.back() = ']';
    line += "}\n";
    write_all(line);
  }
}

}  // namespace
}  // namespace gpusight::bench

int main(int argc, char** argv) {
  using namespace gpusight::bench;
  if (argc < 4) {
    std::fprintf(stderr,
                 "usage: bench_history_day columns|varying|import|import-varying sim|noisy "
                 "SECONDS [SHIFT [METRIC...]]\n");
    return 2;
  }
  const std::string_view form = argv[1];
  const int64_t seconds = std::atoll(argv[3]);
  const int64_t shift_ms = argc > 4 ? std::atoll(argv[4]) * 1000 : 0;
  const std::span<char*> wanted(argv + std::min(argc, 5), argv + argc);
  const bool is_noisy = std::string_view(argv[2]) == "noisy";
  for (const DayGroup& group : is_noisy ? noisy_day(seconds) : simulated_day(seconds)) {
    for (const DayColumn& column : group.columns) {
      if (form.ends_with("varying") && !varies(column)) continue;
      if (!wanted.empty() && std::ranges::find(wanted, column.metric) == wanted.end()) continue;
      if (form.starts_with("import")) {
        write_import(group, column, shift_ms);
      } else {
        const auto bytes = std::as_bytes(std::span(column.quanta));
        write_all({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
      }
    }
  }
  return 0;
}

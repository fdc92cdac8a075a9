// bench_history_day DIR sim|noisy SECONDS
//
// Writes a day of history (history_day.h) as files below DIR, for programs to be compared with:
//   GROUP.times    milliseconds since 1970, one 64-bit number a row, lowest byte first
//   GROUP.COLUMN   the numbers of a column likewise, in the catalogue's order
//   columns.tsv    group, column, metric, label, uuid, quantum, rows, constant or not
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

#include "history_day.h"

namespace {

void write_numbers(const std::string& path, std::span<const int64_t> numbers) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(numbers.data()),
             static_cast<std::streamsize>(numbers.size_bytes()));
  if (!file.flush()) {
    std::fprintf(stderr, "cannot write %s\n", path.c_str());
    std::exit(1);
  }
}

bool is_constant(std::span<const int64_t> numbers) {
  for (const int64_t number : numbers) {
    if (number != numbers.front()) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: bench_history_day DIR sim|noisy SECONDS\n");
    return 2;
  }
  using namespace gpusight::bench;
  const std::string folder = argv[1];
  const int64_t seconds = std::atoll(argv[3]);
  const auto groups =
      std::string_view(argv[2]) == "noisy" ? noisy_day(seconds) : simulated_day(seconds);
  std::ofstream table(folder + "/columns.tsv");
  table.precision(17);
  for (size_t g = 0; g < groups.size(); ++g) {
    const DayGroup& group = groups[g];
    const std::string prefix = folder + "/" + std::to_string(g) + ".";
    write_numbers(prefix + "times", group.times_ms);
    for (size_t c = 0; c < group.columns.size(); ++c) {
      const DayColumn& column = group.columns[c];
      write_numbers(prefix + std::to_string(c), column.quanta);
      table << g << '\t' << c << '\t' << column.metric << '\t' << column.label << '\t' << group.uuid
            << '\t' << column.quantum << '\t' << column.quanta.size() << '\t'
            << (is_constant(column.quanta) ? "constant" : "varies") << '\n';
    }
  }
  return table.flush() ? 0 : 1;
}

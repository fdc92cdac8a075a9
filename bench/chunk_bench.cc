// What the chunk codec makes of a day of eight H100: bytes by metric, speed of packing and
// unpacking on one core, and that everything comes back as it was.
//
//   chunk_bench [--rows N] [--seconds N] [--by-metric] sim|noisy
//
// Prints JSON. bench/history.py runs it, and other programs on the same columns.
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "history_day.h"
#include "store/chunk_codec.h"

namespace gpusight::bench {
namespace {

using store::ChunkColumn;
using store::ChunkDecoder;
using store::ChunkEncoder;
using store::PackedChunk;

struct Options {
  size_t rows = 7200;  // of a chunk: two hours of seconds
  int64_t seconds = 86400;
  bool by_metric = false;
  bool is_noisy = false;
};

struct Chunk {
  std::vector<int64_t> times_ms;
  std::vector<ChunkColumn> columns;
  std::vector<store::ColumnToPack> to_pack;
  std::vector<const DayColumn*> from;
};

std::vector<Chunk> cut(const std::vector<DayGroup>& groups, size_t rows) {
  std::vector<Chunk> chunks;
  for (const DayGroup& group : groups) {
    for (size_t begin = 0; begin < group.times_ms.size(); begin += rows) {
      const size_t end = std::min(begin + rows, group.times_ms.size());
      Chunk& chunk = chunks.emplace_back();
      chunk.times_ms.assign(&group.times_ms[begin], &group.times_ms[end]);
      chunk.columns.resize(group.columns.size());
      for (uint32_t i = 0; i < group.columns.size(); ++i) {
        const DayColumn& column = group.columns[i];
        chunk.columns[i].numbers.assign(&column.quanta[begin], &column.quanta[end]);
        chunk.to_pack.push_back({.id = i, .column = &chunk.columns[i]});
        chunk.from.push_back(&column);
      }
    }
  }
  return chunks;
}

// Of this thread on a processor: others may be at work on it too.
double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void unpack(const Chunk& chunk, const PackedChunk& packed, ChunkDecoder& decoder,
            std::vector<int64_t>& times_ms, ChunkColumn& column, bool is_checking) {
  CHECK(decoder.unpack_times(packed.times, times_ms).ok(), "times are sound");
  CHECK(!is_checking || times_ms == chunk.times_ms, "times come back as they were");
  const auto fetch = [&](uint32_t id) -> Result<std::span<const uint8_t>> {
    return std::span<const uint8_t>(packed.columns[id].bytes);
  };
  for (size_t i = 0; i < packed.columns.size(); ++i) {
    const Status status =
        decoder.unpack_column(packed.columns[i].bytes, times_ms.size(), fetch, column);
    CHECK(status.ok(), status.message());
    CHECK(!is_checking || column == chunk.columns[i], "a column comes back as it was");
  }
}

int run(const Options& options) {
  const auto groups =
      options.is_noisy ? noisy_day(options.seconds) : simulated_day(options.seconds);
  const std::vector<Chunk> chunks = cut(groups, options.rows);
  uint64_t samples = 0;
  uint64_t varying_samples = 0;
  for (const DayGroup& group : groups) {
    for (const DayColumn& column : group.columns) {
      samples += column.quanta.size();
      if (varies(column)) varying_samples += column.quanta.size();
    }
  }

  ChunkEncoder encoder;
  ChunkDecoder decoder;
  std::vector<PackedChunk> packed(chunks.size());
  double began = cpu_seconds();
  for (size_t i = 0; i < chunks.size(); ++i) {
    encoder.pack(chunks[i].times_ms, chunks[i].to_pack, packed[i]);
  }
  const double packing = cpu_seconds() - began;
  std::vector<int64_t> times_ms;
  ChunkColumn column;
  for (size_t i = 0; i < chunks.size(); ++i) {
    unpack(chunks[i], packed[i], decoder, times_ms, column, true);
  }
  began = cpu_seconds();
  for (size_t i = 0; i < chunks.size(); ++i) {
    unpack(chunks[i], packed[i], decoder, times_ms, column, false);
  }
  const double unpacking = cpu_seconds() - began;

  uint64_t times_bytes = 0;
  uint64_t bytes = 0;
  uint64_t varying_bytes = 0;
  uint64_t leaning = 0;
  std::map<std::string, std::pair<uint64_t, uint64_t>> by_metric;
  for (size_t i = 0; i < chunks.size(); ++i) {
    times_bytes += packed[i].times.size();
    for (const auto& [id, data] : packed[i].columns) {
      const DayColumn& from = *chunks[i].from[id];
      bytes += data.size();
      if (varies(from)) varying_bytes += data.size();
      leaning += store::leans_on(data)->has_value();
      auto& metric = by_metric[from.metric + " " + from.label];
      metric.first += data.size();
      metric.second += chunks[i].times_ms.size();
    }
  }
  if (options.by_metric) {
    for (const auto& [name, sums] : by_metric) {
      std::fprintf(stderr, "%-50s %8.3f bits\n", name.c_str(),
                   8.0 * static_cast<double>(sums.first) / static_cast<double>(sums.second));
    }
  }
  std::printf(
      "{\"samples\": %llu, \"varying_samples\": %llu, \"times_bytes\": %llu, \"bytes\": %llu, "
      "\"varying_bytes\": %llu, \"leaning\": %llu, \"pack_samples_per_second\": %.0f, "
      "\"unpack_samples_per_second\": %.0f}\n",
      static_cast<unsigned long long>(samples), static_cast<unsigned long long>(varying_samples),
      static_cast<unsigned long long>(times_bytes), static_cast<unsigned long long>(bytes),
      static_cast<unsigned long long>(varying_bytes), static_cast<unsigned long long>(leaning),
      static_cast<double>(samples) / packing, static_cast<double>(samples) / unpacking);
  return 0;
}

}  // namespace
}  // namespace gpusight::bench

int main(int argc, char** argv) {
  gpusight::bench::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--rows" && i + 1 < argc) {
      options.rows = std::strtoull(argv[++i], nullptr, 10);
    } else if (word == "--seconds" && i + 1 < argc) {
      options.seconds = std::atoll(argv[++i]);
    } else if (word == "--by-metric") {
      options.by_metric = true;
    } else if (word == "sim" || word == "noisy") {
      options.is_noisy = word == "noisy";
    } else {
      std::fprintf(stderr, "usage: chunk_bench [--rows N] [--seconds N] [--by-metric] sim|noisy\n");
      return 2;
    }
  }
  return gpusight::bench::run(options);
}

// `gpusight history export`: the raw samples of matching series, series by series, as they are
// read.
#include <algorithm>
#include <limits>

#include "base/text.h"
#include "cli/csv.h"
#include "cli/format.h"
#include "cli/history.h"
#include "cli/history_place.h"
#include "cli/output_file.h"
#include "cli/time_text.h"
#include "export/prometheus/exposition.h"

namespace gpusight::cli {
namespace {

using catalog::Lang;
using catalog::MessageId;
using config::Config;
using config::OptionId;
using model::Labels;
using store::RecordedSample;

// What is gathered before it is written.
constexpr size_t kPieceBytes = 64 * 1024;

// How samples are written. Series come one after another, each in several stretches.
class SampleWriter {
 public:
  virtual ~SampleWriter() = default;
  virtual std::string head() { return {}; }
  virtual std::string samples(const Labels& labels, std::span<const RecordedSample> samples) = 0;
  virtual std::string tail() { return {}; }
};

// A sample that is absent is NaN, which no number of the catalogue is.
class OpenMetricsWriter final : public SampleWriter {
 public:
  std::string samples(const Labels& labels, std::span<const RecordedSample> samples) override {
    if (labels != labels_) begin(labels);
    for (const RecordedSample& sample : samples) {
      out_.begin_sample(series_);
      out_.end_sample(sample.number.value_or(std::numeric_limits<double>::quiet_NaN()),
                      sample.time_ms);
    }
    return out_.take();
  }
  std::string tail() override { return out_.finish(); }

 private:
  // "__name__" stands before all other labels.
  void begin(const Labels& labels) {
    const std::string& name = labels.front().second;
    if (labels_.empty() || labels_.front().second != name) {
      const catalog::MetricRow& row = *catalog::find_metric(name);
      out_.family(row.name, row.kind, row.unit, row.help.en);
    }
    labels_ = labels;
    series_ = name;
    for (size_t i = 1; i < labels.size(); ++i) {
      series_ += i == 1 ? '{' : ',';
      prometheus::append_label(series_, labels[i].first, labels[i].second);
    }
    if (labels.size() > 1) series_ += '}';
  }

  prometheus::Exposition out_{prometheus::Format::kOpenMetrics100};
  Labels labels_;
  std::string series_;  // name and labels as written
};

class CsvWriter final : public SampleWriter {
 public:
  std::string head() override { return "time,metric,uuid,label,value,reason\n"; }

  std::string samples(const Labels& labels, std::span<const RecordedSample> samples) override {
    std::string uuid;
    std::string label;
    for (const auto& [name, value] : labels) {
      if (name == "uuid") uuid = value;
      if (name != "uuid" && name != "__name__") label = name + "=" + value;
    }
    const std::string series =
        "," + labels.front().second + "," + csv_field(uuid) + "," + csv_field(label) + ",";
    std::string out;
    for (const RecordedSample& sample : samples) {
      out += moment_text(sample.time_ms) + series;
      if (sample.number) append_number(out, *sample.number);
      out += ',';
      if (!sample.number) out += model::reason_key(sample.reason);
      out += '\n';
    }
    return out;
  }
};

struct Wanted {
  std::vector<model::Matcher> matchers;
  int64_t after_ms = std::numeric_limits<int64_t>::min();
  int64_t end_ms = std::numeric_limits<int64_t>::max();
};

Result<Wanted> wanted_of(const Config& config, WallTime now) {
  const Lang lang = config.lang();
  Wanted wanted{.matchers = TRY(parse_selector(config.get<OptionId::kMatch>(), lang))};
  const std::string& start = config.get<OptionId::kStart>();
  if (!start.empty()) {
    wanted.after_ms = TRY(parse_time_option(OptionId::kStart, start, now, lang)) - 1;
  }
  if (!config.is_default(OptionId::kEnd)) {
    wanted.end_ms = TRY(parse_time_option(OptionId::kEnd, config.get<OptionId::kEnd>(), now, lang));
  }
  if (wanted.after_ms >= wanted.end_ms) {
    return Status(Code::kInvalidArgument, say(MessageId::kUsageBadValue, lang, "--start", start,
                                              say(MessageId::kWantOrder, lang)));
  }
  return wanted;
}

// Ok also when nobody reads any more. kCorrupt: parts of it are damaged and left out.
Status write_all(const store::HistoryFile& history, const Wanted& wanted, SampleWriter& writer,
                 OutputFile& out) {
  std::string piece = writer.head();
  const Status read =
      history.for_each_sample(wanted.matchers, wanted.after_ms, wanted.end_ms,
                              [&](const Labels& labels, std::span<const RecordedSample> samples) {
                                piece += writer.samples(labels, samples);
                                if (piece.size() < kPieceBytes) return true;
                                const bool written = out.write(piece);
                                piece.clear();
                                return written;
                              });
  if (!read.ok() && read.code() != Code::kCorrupt) return read;
  out.write(piece + writer.tail());
  return read;
}

}  // namespace

int run_history_export(const Config& config, const Machine& machine, WallTime now, Io& io) {
  const Lang lang = config.lang();
  const auto fail = [&](const std::string& text, int code) {
    io.err("gpusight: " + text + "\n");
    return code;
  };
  const auto wanted = wanted_of(config, now);
  if (!wanted.ok()) return fail(wanted.status().message(), kExitUsage);
  const auto place = find_history(config, machine);
  if (!place.ok()) return fail(place.status().message(), kExitEnvironment);
  const auto history = open_history(*place, lang);
  if (!history.ok()) return fail(history.status().message(), kExitEnvironment);
  const std::string& path = config.get<OptionId::kOutput>();
  const auto cannot_write = [&](const Status& why) {
    return fail(say(MessageId::kCannotWrite, lang, clean_text(path, 1024), why.message()),
                kExitEnvironment);
  };
  auto out = OutputFile::open(path, io);
  if (!out.ok()) return cannot_write(out.status());
  OpenMetricsWriter open_metrics;
  CsvWriter csv;
  SampleWriter& writer = config.get<OptionId::kCsv>() ? static_cast<SampleWriter&>(csv)
                                                      : static_cast<SampleWriter&>(open_metrics);
  const Status read = write_all(**history, *wanted, writer, *out);
  const std::string why = clean_text(read.message(), 1024);
  if (!read.ok() && read.code() != Code::kCorrupt) {
    return fail(say(MessageId::kHistoryUnreadable, lang, why), kExitEnvironment);
  }
  if (const Status finished = out->finish(); !finished.ok()) return cannot_write(finished);
  if (read.ok()) return kExitOk;
  return fail(say(MessageId::kHistoryExportIncomplete, lang, why), kExitEnvironment);
}

}  // namespace gpusight::cli

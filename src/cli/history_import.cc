// `gpusight history import`: OpenMetrics text with times, line by line, into the state directory.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <optional>
#include <system_error>

#include "base/fd.h"
#include "base/text.h"
#include "cli/format.h"
#include "cli/history.h"
#include "cli/history_place.h"
#include "export/prometheus/openmetrics_reader.h"
#include "store/backfill.h"

namespace gpusight::cli {
namespace {

using catalog::Lang;
using catalog::MessageId;
using config::Config;
using config::OptionId;
using model::Labels;
using prometheus::OpenMetricsReader;

// Lines of a file, of bounded length.
class LineSource {
 public:
  // "-" is standard input.
  static Result<LineSource> open(const std::string& path) {
    LineSource source;
    if (path != "-") {
      source.owned_.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
      if (!source.owned_.valid()) {
        return Status(Code::kIo, std::generic_category().message(errno));
      }
      source.fd_ = source.owned_.get();
    }
    return source;
  }

  // nullopt at the end. A line that is too long comes cut, and is too long for the reader. What it
  // points to is valid until the next call.
  Result<std::optional<std::string_view>> next() {
    constexpr size_t kMost = OpenMetricsReader::kMaxLine + 1;
    size_t end = buffer_.find('\n', begin_);
    while (end == std::string::npos && buffer_.size() - begin_ <= kMost && !is_at_end_) {
      const size_t looked_at = buffer_.size() - begin_;
      TRY(fill());
      end = buffer_.find('\n', begin_ + looked_at);
    }
    if (end == std::string::npos) {
      if (begin_ == buffer_.size()) return std::optional<std::string_view>();
      end = buffer_.size();
    }
    const std::string_view line = std::string_view(buffer_).substr(begin_, end - begin_);
    begin_ = std::min(end + 1, buffer_.size());
    return std::optional(line.substr(0, kMost));
  }

 private:
  Status fill() {
    constexpr size_t kPiece = 64 * 1024;
    buffer_.erase(0, begin_);
    begin_ = 0;
    const size_t before = buffer_.size();
    buffer_.resize(before + kPiece);
    ssize_t size = 0;
    do {
      size = ::read(fd_, buffer_.data() + before, kPiece);
    } while (size < 0 && errno == EINTR);
    const int error = errno;
    buffer_.resize(before + static_cast<size_t>(std::max<ssize_t>(size, 0)));
    if (size < 0) return {Code::kIo, std::generic_category().message(error)};
    is_at_end_ = size == 0;
    return {};
  }

  UniqueFd owned_;
  int fd_ = STDIN_FILENO;
  std::string buffer_;
  size_t begin_ = 0;
  bool is_at_end_ = false;
};

// Which series of the catalogue a set of labels is.
struct Named {
  const catalog::MetricRow* metric = nullptr;
  std::string uuid;
  std::string label;
};

Status wrong(std::string what) { return {Code::kCorrupt, std::move(what)}; }

Result<Named> name_series(const Labels& labels) {
  Named named;
  for (const auto& [name, value] : labels) {
    if (name == "__name__") named.metric = catalog::find_metric(value);
  }
  if (named.metric == nullptr) {
    return wrong(
        "it is no metric that gpusight records (`gpusight metrics` lists them; --match "
        "leaves others out)");
  }
  const bool is_device = named.metric->scope == catalog::Scope::kDevice;
  for (const auto& [name, value] : labels) {
    if (name == "__name__") continue;
    if (clean_text(value) != value) return wrong("the label " + name + " holds no clean text");
    if (is_device && name == "uuid") {
      named.uuid = value;
    } else if (!named.metric->label.empty() && name == named.metric->label) {
      named.label = value;
    } else {
      return wrong("the metric has no label " + clean_text(name));
    }
  }
  if (is_device && named.uuid.empty()) return wrong("the label uuid is missing");
  return named;
}

// Takes samples in the order of the text.
class Importer {
 public:
  Importer(std::vector<model::Matcher> matchers, int64_t now_ms, store::Backfill& history)
      : matchers_(std::move(matchers)), now_ms_(now_ms), history_(history) {}

  Status take(const prometheus::TimedSample& sample) {
    if (sample.labels != labels_) TRY(begin(sample.labels));
    if (!is_wanted_) return {};
    if (sample.time_ms <= 0) return wrong("its time lies before 1970");
    if (sample.time_ms > now_ms_) return wrong("its time lies in the future");
    return history_.add(sample.time_ms, TRY(number_of(sample.number)));
  }

 private:
  Status begin(const Labels& labels) {
    labels_ = labels;
    is_wanted_ = model::matches(labels, matchers_);
    if (!is_wanted_) return {};
    const Named named = TRY(name_series(labels));
    metric_ = named.metric;
    return history_.begin(*named.metric, named.uuid, named.label);
  }

  // NaN is an absent sample.
  Result<std::optional<double>> number_of(double number) const {
    if (std::isnan(number)) return std::optional<double>();
    if (!(number >= metric_->min && number <= metric_->max)) {
      return wrong("its value cannot be: " + number_text(metric_->min) + " to " +
                   number_text(metric_->max) + " can");
    }
    return std::optional(number);
  }

  const std::vector<model::Matcher> matchers_;
  const int64_t now_ms_;
  store::Backfill& history_;
  Labels labels_;
  bool is_wanted_ = false;
  const catalog::MetricRow* metric_ = nullptr;
};

// kCorrupt and kInvalidArgument are about the line that `reader` is at.
Status import_all(LineSource& lines, OpenMetricsReader& reader, Importer& importer) {
  prometheus::TimedSample sample;
  while (const std::optional<std::string_view> line = TRY(lines.next())) {
    const auto what = TRY(reader.read(*line, sample));
    if (what == OpenMetricsReader::Line::kSample) TRY(importer.take(sample));
  }
  return reader.check_end();
}

}  // namespace

int run_history_import(const Config& config, const Machine& machine, WallTime now, Io& io) {
  const Lang lang = config.lang();
  const auto fail = [&](const std::string& text, int code = kExitEnvironment) {
    io.err("gpusight: " + text + "\n");
    return code;
  };
  auto matchers = parse_selector(config.get<OptionId::kMatch>(), lang);
  if (!matchers.ok()) return fail(matchers.status().message(), kExitUsage);
  const std::string& path = config.arguments()[1];
  const std::string shown = clean_text(path, 1024);
  auto lines = LineSource::open(path);
  if (!lines.ok()) return fail(shown + ": " + lines.status().message());
  const std::string& named = config.get<OptionId::kStateDir>();
  const std::string& directory = named.empty() ? machine.paths.state_dir : named;
  if (directory.empty()) {
    return fail(say(MessageId::kUsageMissingArgument, lang, std::string("--state-dir")),
                kExitUsage);
  }
  const auto lock = store::StateLock::take(directory);
  if (lock.status().code() == Code::kUnavailable) {
    return fail(say(MessageId::kHistoryHeld, lang, clean_text(directory, 1024)));
  }
  const auto not_writable = [&](const Status& why) {
    return fail(say(MessageId::kHistoryNotWritable, lang, clean_text(directory, 1024),
                    clean_text(why.message(), 1024)));
  };
  if (!lock.ok()) return not_writable(lock.status());
  const auto history =
      store::Backfill::open({.lock = &*lock, .file = config.get<OptionId::kHistoryFile>()});
  if (!history.ok()) return not_writable(history.status());

  OpenMetricsReader reader;
  Importer importer(std::move(*matchers), unix_milliseconds(now), **history);
  Status done = import_all(*lines, reader, importer);
  const bool is_text_wrong = done.code() == Code::kCorrupt || done.code() == Code::kExhausted ||
                             done.code() == Code::kInvalidArgument;
  if (done.ok()) done = (*history)->finish();
  const std::string written = std::to_string((*history)->written());
  if (!done.ok()) {
    const std::string why = clean_text(done.message(), 1024);
    fail(is_text_wrong
             ? say(MessageId::kHistoryImportLine, lang, shown, std::to_string(reader.line_number()),
                   why)
             : say(MessageId::kHistoryNotWritable, lang, clean_text(directory, 1024), why));
    return fail(say(MessageId::kHistoryImportStays, lang, written));
  }
  io.write(say(MessageId::kHistoryImported, lang, written) + "\n");
  if ((*history)->left_out() > 0) {
    io.write(say(MessageId::kHistoryLeftOut, lang, std::to_string((*history)->left_out())) + "\n");
  }
  return kExitOk;
}

}  // namespace gpusight::cli

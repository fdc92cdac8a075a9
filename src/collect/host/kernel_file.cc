#include "collect/host/kernel_file.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace gpusight::collect::host {

using model::Reason;

Reason reason_of(const Status& failure) {
  switch (failure.code()) {
    case Code::kNotFound: return Reason::kNotSupported;
    case Code::kPermissionDenied: return Reason::kNoPermission;
    default: return Reason::kDriverError;
  }
}

bool KernelFile::read() {
  const Status status = file_.read_into(text_);
  if (status.ok()) return true;
  reason_ = reason_of(status);
  if (reason_ == Reason::kDriverError && on_failure_ == OnFailure::kUnsupported) {
    reason_ = Reason::kNotSupported;
  }
  if (reason_ == Reason::kNotSupported) return false;
  // The message begins with the path, and so will the line of the log.
  std::string_view what = status.message();
  if (what.starts_with(file_.path() + ": ")) what.remove_prefix(file_.path().size() + 2);
  faults_.report(file_.path(), what);
  return false;
}

void KernelFile::not_understood() {
  reason_ = Reason::kDriverError;
  faults_.report(file_.path(), "its text is not what the kernel writes");
}

void KernelFile::absent(Report& report, std::span<const catalog::MetricId> metrics) const {
  for (const catalog::MetricId metric : metrics) report.absent(metric, reason_);
}

std::string_view take_line(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

std::string_view take_word(std::string_view& line) {
  const size_t start = std::min(line.find_first_not_of(" \t"), line.size());
  const size_t end = std::min(line.find_first_of(" \t", start), line.size());
  const std::string_view word = line.substr(start, end - start);
  line.remove_prefix(end);
  return word;
}

std::optional<uint64_t> take_uint(std::string_view& line) {
  const std::string_view word = take_word(line);
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

std::string_view plain_label(std::string_view name, std::string& scratch) {
  constexpr size_t kLabelBytes = 128;
  const bool plain = name.size() <= kLabelBytes &&
                     std::ranges::all_of(name, [](char c) { return c > ' ' && c < 127; });
  if (plain) return name;
  scratch = clean_text(name, kLabelBytes);
  return scratch;
}

}  // namespace gpusight::collect::host

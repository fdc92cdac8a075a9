// label_replace and label_join.
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/text.h"
#include "promql/instant_functions.h"
#include "promql/label_set.h"
#include "promql/replacement.h"

namespace gpusight::promql {
namespace {

Status too_long(std::string_view function) {
  return {Code::kExhausted,
          fmt::format("{}() makes a label longer than {} bytes", function, kMaxLabelValue)};
}

bool is_label_name(std::string_view name) { return !name.empty() && is_valid_utf8(name); }

class LabelReplace final : public LabelFunction {
 public:
  LabelReplace(std::string_view destination, std::string_view replacement, std::string_view source,
               std::unique_ptr<RE2> pattern)
      : destination_(destination),
        source_(source),
        pattern_(std::move(pattern)),
        replacement_(replacement, *pattern_) {}

  Result<bool> write_to(model::Labels& labels) const override {
    const std::string_view text = label_value(labels, source_);
    std::vector<re2::StringPiece> groups(static_cast<size_t>(pattern_->NumberOfCapturingGroups()) +
                                         1);
    const bool found =
        pattern_->Match(re2::StringPiece(text.data(), text.size()), 0, text.size(),
                        RE2::ANCHOR_BOTH, groups.data(), static_cast<int>(groups.size()));
    if (!found) return false;
    if (replacement_.size(groups) > kMaxLabelValue) return too_long("label_replace");
    std::string value;
    replacement_.append(value, groups);
    set_label(labels, destination_, value);  // an empty one takes it away
    return true;
  }

 private:
  std::string destination_;
  std::string source_;
  std::unique_ptr<RE2> pattern_;
  Replacement replacement_;
};

class LabelJoin final : public LabelFunction {
 public:
  LabelJoin(std::string_view destination, std::string_view separator,
            std::vector<std::string> sources)
      : destination_(destination), separator_(separator), sources_(std::move(sources)) {}

  Result<bool> write_to(model::Labels& labels) const override {
    std::string joined;
    for (size_t i = 0; i < sources_.size(); ++i) {
      if (i > 0) joined += separator_;
      joined += label_value(labels, sources_[i]);
      if (joined.size() > kMaxLabelValue) return too_long("label_join");
    }
    set_label(labels, destination_, joined);
    return true;
  }

 private:
  std::string destination_;
  std::string separator_;
  std::vector<std::string> sources_;
};

}  // namespace

Result<std::unique_ptr<LabelFunction>> make_label_replace(std::string_view destination,
                                                          std::string_view replacement,
                                                          std::string_view source,
                                                          std::string_view pattern) {
  auto compiled = std::make_unique<RE2>("^(?s:" + re2_pattern(pattern) + ")$", regex_options());
  if (!compiled->ok()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("invalid regular expression in label_replace(): {}", pattern));
  }
  if (!is_label_name(destination)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("invalid destination label name in label_replace(): {}",
                              clean_text(destination)));
  }
  return std::unique_ptr<LabelFunction>(
      std::make_unique<LabelReplace>(destination, replacement, source, std::move(compiled)));
}

Result<std::unique_ptr<LabelFunction>> make_label_join(std::string_view destination,
                                                       std::string_view separator,
                                                       std::vector<std::string> sources) {
  for (const std::string& source : sources) {
    if (!is_label_name(source)) {
      return Status(
          Code::kInvalidArgument,
          fmt::format("invalid source label name in label_join(): {}", clean_text(source)));
    }
  }
  if (!is_label_name(destination)) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("invalid destination label name in label_join(): {}", clean_text(destination)));
  }
  return std::unique_ptr<LabelFunction>(
      std::make_unique<LabelJoin>(destination, separator, std::move(sources)));
}

}  // namespace gpusight::promql

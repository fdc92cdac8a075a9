#include "promql/annotation.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace gpusight::promql {
namespace {

bool same(const Annotation& a, const Annotation& b) {
  return a.severity == b.severity && a.position.start == b.position.start && a.message == b.message;
}

}  // namespace

void Annotations::warn(std::string message, Position position) {
  add({Annotation::Severity::kWarning, std::move(message), position});
}

void Annotations::info(std::string message, Position position) {
  add({Annotation::Severity::kInfo, std::move(message), position});
}

void Annotations::add(Annotation annotation) {
  if (all_.size() > kMaxAnnotations) return;
  for (const Annotation& known : all_) {
    if (same(known, annotation)) return;
  }
  if (all_.size() == kMaxAnnotations) {
    annotation = {Annotation::Severity::kInfo, "more remarks than are kept; the rest is left out",
                  annotation.position};
  }
  all_.push_back(std::move(annotation));
}

std::string render(const Annotation& annotation, std::string_view query) {
  const char* prefix =
      annotation.severity == Annotation::Severity::kWarning ? "PromQL warning" : "PromQL info";
  return fmt::format("{}: {} ({})", prefix, annotation.message,
                     line_and_column(query, annotation.position));
}

}  // namespace gpusight::promql

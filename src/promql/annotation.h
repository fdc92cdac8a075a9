// Remarks on an answer that is still an answer: warnings and infos, each with the place in the
// query that caused it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "promql/ast.h"

namespace gpusight::promql {

struct Annotation {
  enum class Severity : uint8_t { kInfo, kWarning };
  Severity severity = Severity::kInfo;
  std::string message;  // without prefix and place
  Position position;
};

// In the order first given; one with the same severity, message and position is kept once. At most
// kMaxAnnotations; the rest is dropped and said by a last info.
class Annotations {
 public:
  static constexpr size_t kMaxAnnotations = 100;
  void warn(std::string message, Position position);
  void info(std::string message, Position position);
  const std::vector<Annotation>& all() const { return all_; }

 private:
  void add(Annotation annotation);
  std::vector<Annotation> all_;
};

// As Prometheus's API gives it: "PromQL warning: MESSAGE (1:5)".
std::string render(const Annotation& annotation, std::string_view query);

}  // namespace gpusight::promql

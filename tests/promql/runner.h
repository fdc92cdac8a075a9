// Runs a test script against our engine, with the settings and checks of Prometheus's own runner.
//
// Beside the query itself, an instant query that succeeds is run as a range query around its
// instant, whose middle step must say the same, unless it asks for start() or end(); and, where
// that cannot change the answer, with "@" appended to its selectors at other times of evaluation.
//
// Left out, by rule and never by name or line: what the language of our engine does not have
// (Code::kUnsupported), what comes upon native histograms, in the data or in what is expected, and
// what comes upon series with metadata labels (__type__, __unit__).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "promql/engine.h"

namespace gpusight::conformance {

enum class Verdict { kPassed, kFailed, kUnsupported, kHistogram, kMetadata };

struct Outcome {
  size_t line = 0;
  Verdict verdict = Verdict::kPassed;
  std::string why;  // of a failure; of an unsupported query what is not there
};

struct Report {
  std::vector<Outcome> outcomes;  // one for each eval, in the script's order
  size_t count(Verdict verdict) const;
};

// The message of a script that does not parse or load begins with "LINE: ".
// Scripts of Prometheus are meant for names that go at the end.
Result<Report> run_script(std::string_view text,
                          promql::NameRemoval name_removal = promql::NameRemoval::kDelayed);

}  // namespace gpusight::conformance

// promql_conformance FILE…: runs test scripts for PromQL engines against ours.
//
// A line for each failing case with file and line, then for each file how many ran, failed and were
// left out by which rule; last "N passed, M failed, K skipped". Exit code 1 when a case failed, 2
// when a script could not be read.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "tests/promql/runner.h"

namespace gpusight::conformance {
namespace {

struct Totals {
  size_t passed = 0;
  size_t failed = 0;
  size_t skipped = 0;
  bool unreadable = false;
};

void run_file(const std::string& path, Totals& totals) {
  std::ifstream file;
  if (!std::filesystem::is_directory(path)) file.open(path, std::ios::binary);
  if (!file.is_open()) {
    fmt::print(stderr, "{}: cannot be read\n", path);
    totals.unreadable = true;
    return;
  }
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const Result<Report> report = run_script(text);
  if (!report.ok()) {
    fmt::print(stderr, "{}:{}\n", path, report.status().message());
    totals.unreadable = true;
    return;
  }
  for (const Outcome& outcome : report->outcomes) {
    if (outcome.verdict != Verdict::kFailed) continue;
    fmt::print("{}:{}: {}\n", path, outcome.line, outcome.why);
  }
  const size_t passed = report->count(Verdict::kPassed);
  const size_t failed = report->count(Verdict::kFailed);
  const size_t unsupported = report->count(Verdict::kUnsupported);
  const size_t histograms = report->count(Verdict::kHistogram);
  const size_t metadata = report->count(Verdict::kMetadata);
  const size_t skipped = unsupported + histograms + metadata;
  fmt::print(
      "{}: {} run, {} failed, {} skipped ({} not in our language, {} native histograms, "
      "{} metadata labels)\n",
      path, passed + failed, failed, skipped, unsupported, histograms, metadata);
  totals.passed += passed;
  totals.failed += failed;
  totals.skipped += skipped;
}

}  // namespace
}  // namespace gpusight::conformance

int main(int count, char** arguments) {
  if (count < 2) {
    fmt::print(stderr, "usage: promql_conformance FILE…\n");
    return 2;
  }
  gpusight::conformance::Totals totals;
  for (int i = 1; i < count; ++i) gpusight::conformance::run_file(arguments[i], totals);
  std::fflush(stderr);
  fmt::print("{} passed, {} failed, {} skipped\n", totals.passed, totals.failed, totals.skipped);
  if (totals.unreadable) return 2;
  return totals.failed > 0 ? 1 : 0;
}

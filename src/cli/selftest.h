// `gpusight selftest`: what gpusight needs on this machine, checked one by one, with what to do
// about each. It looks and changes nothing: no file is written, no GPU woken.
#pragma once

#include <string>
#include <vector>

#include "cli/io.h"
#include "cli/machine.h"
#include "cli/status_table.h"
#include "config/config.h"
#include "platform/http_client.h"
#include "platform/root_fs.h"

namespace gpusight::cli {

enum class Verdict : uint8_t { kOk, kWarn, kFail };

struct Check {
  std::string key;   // stable, for machines: "daemon", "source.nvml"
  std::string name;  // for people
  Verdict verdict = Verdict::kOk;
  std::string found;
  std::string advice;  // empty: nothing to do
};

struct SelftestInput {
  const config::Config& config;
  const Machine& machine;
  const Hooks& hooks;
  const platform::HttpClient& client;
  platform::RootFs root;
};

std::vector<Check> run_checks(const SelftestInput& input);
std::string checks_text(const std::vector<Check>& checks, const ViewOptions& options);
std::string checks_json(const std::vector<Check>& checks);

int run_selftest(const SelftestInput& input, Io& io);

}  // namespace gpusight::cli

// Which recorded history a command means. Any thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/machine.h"
#include "config/config.h"
#include "store/history_file.h"

namespace gpusight::cli {

struct HistoryPlace {
  std::string directory;
  std::string path;  // of the database
};

// --history-file in --state-dir, else in the first of the state directories that has it. A
// failure's text is for the user.
Result<HistoryPlace> find_history(const config::Config& config, const Machine& machine);
Result<std::unique_ptr<store::HistoryFile>> open_history(const HistoryPlace& place,
                                                         catalog::Lang lang);

// The matchers of a selector; none for an empty text. A failure's text is for the user.
Result<std::vector<model::Matcher>> parse_selector(std::string_view text, catalog::Lang lang);

// The option's value as milliseconds since 1970. A failure's text is for the user.
Result<int64_t> parse_time_option(config::OptionId id, const std::string& text, WallTime now,
                                  catalog::Lang lang);

}  // namespace gpusight::cli

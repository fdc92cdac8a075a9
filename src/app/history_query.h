// Queries without a daemon: Prometheus's API over a history file, for the one-shot command.
#pragma once

#include <string>

namespace gpusight::app {

// The body of what the API answers to a GET of `target` (a query or a range query); an error of its
// own form where the file cannot be read. On the caller's thread.
std::string answer_query(const std::string& target, const std::string& history);

}  // namespace gpusight::app

// The configuration file. All or nothing: one unknown key or bad value refuses the whole file, and
// the error names every fault with its line. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/option.h"

namespace gpusight::config {

struct FileValue {
  OptionValue value;
  int64_t line = 0;
};
using FileValues = std::vector<std::optional<FileValue>>;  // one slot for each OptionId

// A file longer than this is refused unread: nobody writes such a one by hand.
inline constexpr size_t kMaxConfigBytes = 1 << 20;

// `name` is what errors call the file. Their lines are in the order of the file, one fault each.
Result<FileValues> parse_toml_file(std::string_view text, std::string_view name,
                                   catalog::Lang lang);

}  // namespace gpusight::config

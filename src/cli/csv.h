// A field of CSV (RFC 4180), from whatever text. Pure; any thread.
#pragma once

#include <string>

namespace gpusight::cli {

// Quoted where it has to be; what a spreadsheet would run as a formula gets an apostrophe in front.
std::string csv_field(const std::string& text);

}  // namespace gpusight::cli

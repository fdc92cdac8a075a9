// A command line as it may be shown to its owner: arguments joined by spaces, secrets as "***".
//
// What is taken for a secret: the value of an option, variable, header or part of a query whose
// name says so (--password x, --api-key=x, TOKEN=x, "Authorization: x", ?token=x), what stands
// before the '@' of a URL, and words that start as the tokens of well-known services do. Rather too
// much than too little; what a program takes without any name cannot be known.
//
// Pure. The text is that of /proc/PID/cmdline: NUL after each argument; programs that set their own
// title write one text with spaces. It is cleaned and of bounded length.
#pragma once

#include <string>
#include <string_view>

namespace gpusight::attribute {

inline constexpr size_t kMaxArgumentsBytes = 1024;

std::string masked_arguments(std::string_view cmdline);

}  // namespace gpusight::attribute

// gpusight_sim_tree DIR SCENARIO [SECONDS]: writes the machine of a scenario as files.
#include <charconv>
#include <cstdio>
#include <cstring>

#include "tree.h"

int main(int argc, char** argv) {
  double at = 0;
  const char* end = argc == 4 ? argv[3] + std::strlen(argv[3]) : nullptr;
  const bool number = argc != 4 || (std::from_chars(argv[3], end, at).ptr == end && *argv[3] != 0);
  if (argc < 3 || argc > 4 || !number) {
    std::fprintf(stderr,
                 "usage: gpusight_sim_tree DIR SCENARIO [SECONDS]\n"
                 "Writes the machine around the GPUs of a scenario (a file, or one of %s)\n"
                 "below DIR, as it is SECONDS after the start (0).\n",
                 gpusight::sim::builtin_names().c_str());
    return 2;
  }
  const auto parsed = gpusight::sim::load_scenario(argv[2]);
  if (!parsed.value) {
    std::fprintf(stderr, "gpusight_sim_tree: %s\n", parsed.error.c_str());
    return 1;
  }
  const std::string problem = gpusight::sim::write_tree(*parsed.value, argv[1], at);
  if (problem.empty()) return 0;
  std::fprintf(stderr, "gpusight_sim_tree: %s\n", problem.c_str());
  return 1;
}

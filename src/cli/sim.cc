#include "cli/sim.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>
#include <system_error>

#include "base/json_writer.h"
#include "base/text.h"
#include "cli/format.h"
#include "cli/table.h"
#include "config/value.h"
#include "platform/dynamic_library.h"
#include "platform/root_fs.h"

namespace gpusight::cli {
namespace {

using catalog::Lang;
using catalog::MessageId;
using config::OptionId;

constexpr std::string_view kLibraryName = "libnvidia-ml.so.1";
// Exit codes of a shell that could not run a command.
constexpr int kExitCannotRun = 126;
constexpr int kExitNotFound = 127;

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, std::max<size_t>(slash, 1));
}

// "…/bin/../lib" without the dots; as it is when it does not exist.
std::string tidy(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), &std::free);
  return real == nullptr ? path : std::string(real.get());
}

std::string scenario_folder(const Machine& machine) {
  return folder_of(machine.executable) + "/../share/gpusight/scenarios";
}

// The value of `title = "…"` among the first lines; empty if there is none.
std::string title_of(const std::string& path) {
  const Result<std::string> text = platform::RootFs().read(path, 4096);
  if (!text.ok()) return {};
  for (std::string_view line : split(*text, '\n')) {
    line = trim(line);
    if (!line.starts_with("title")) continue;
    const size_t open = line.find('"');
    const size_t close = line.rfind('"');
    if (open != std::string_view::npos && close > open) {
      return clean_text(line.substr(open + 1, close - open - 1));
    }
  }
  return {};
}

Status check_readable(const std::string& path, Lang lang) {
  const auto failure = [&](int error) {
    return Status(Code::kInvalidArgument, say(MessageId::kSimUnreadable, lang, clean_text(path),
                                              std::generic_category().message(error)));
  };
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return failure(errno);
  if (S_ISDIR(info.st_mode)) return failure(EISDIR);
  if (::access(path.c_str(), R_OK) != 0) return failure(errno);
  return {};
}

std::string list_text(const Machine& machine, const config::Config& config, const Io& io) {
  const Lang lang = config.lang();
  Table table({{say(MessageId::kWordName, lang)}, {""}});
  for (const Scenario& s : scenarios(machine)) table.add({{s.name}, {s.title}});
  return table.render(io.width, io.colour && !config.get<OptionId::kNoColor>());
}

std::string list_json(const Machine& machine) {
  std::string out;
  JsonWriter w(out);
  w.begin_array();
  for (const Scenario& s : scenarios(machine)) {
    w.begin_object().key("name").string(s.name).key("path");
    s.path.empty() ? w.null() : w.string(s.path);
    w.key("title");
    s.title.empty() ? w.null() : w.string(s.title);
    w.end_object();
  }
  w.end_array();
  return out + "\n";
}

// As exec wants them; valid as long as the texts stand.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Replaces this process. `command` is not empty.
int execute(std::vector<std::string> command, const Machine& machine,
            const platform::Environment& environment, Lang lang, Io& io) {
  // Ourselves, not whatever gpusight the PATH has: a build tree tries what it built.
  const std::string program = command[0] == "gpusight" ? machine.executable : command[0];
  std::vector<std::string> variables;
  variables.reserve(environment.size());
  for (const auto& [name, value] : environment) {
    variables.push_back(name);
    variables.back().append("=").append(value);
  }
  std::vector<char*> words = pointers_to(command);
  std::vector<char*> pointers = pointers_to(variables);
  ::execvpe(program.c_str(), words.data(), pointers.data());
  const int error = errno;
  io.err("gpusight: " +
         say(MessageId::kSimCannotRun, lang, clean_text(program),
             std::generic_category().message(error)) +
         "\n");
  return error == ENOENT ? kExitNotFound : kExitCannotRun;
}

}  // namespace

Result<std::string> find_simulator(const Machine& machine, Lang lang) {
  const std::string folder = folder_of(machine.executable);
  std::string looked;
  for (const char* place : {"/../lib/gpusight/sim/", "/lib/gpusight/sim/"}) {
    const std::string path = folder + place + std::string(kLibraryName);
    if (::access(path.c_str(), R_OK) == 0) return tidy(path);
    looked += (looked.empty() ? "" : ", ") + path;
  }
  return Status(Code::kNotFound, say(MessageId::kSimulatedMissing, lang, clean_text(looked, 1024)));
}

std::vector<Scenario> scenarios(const Machine& machine) {
  std::vector<Scenario> all;
  const std::string folder = tidy(scenario_folder(machine));
  for (const std::string_view name : split_words(config::kBuiltinScenarios)) {
    all.push_back(
        {.name = std::string(name), .title = title_of(folder + "/" + std::string(name) + ".toml")});
  }
  for (const std::string& file : platform::RootFs().list(folder)) {
    constexpr std::string_view kEnding = ".toml";
    if (!file.ends_with(kEnding)) continue;
    const std::string name = clean_text(file.substr(0, file.size() - kEnding.size()));
    if (std::ranges::find(all, name, &Scenario::name) != all.end()) continue;
    std::string path = folder;
    path.append("/").append(file);
    all.push_back({.name = name, .path = path, .title = title_of(path)});
  }
  return all;
}

Result<std::string> resolve_scenario(const Machine& machine, const std::string& word, Lang lang) {
  const bool is_path = word.find('/') != std::string::npos || word.ends_with(".toml");
  if (is_path) {
    TRY(check_readable(word, lang));
    return tidy(word);
  }
  // BOARD+SHAPE@AGE is put together by the library, which also says what is wrong with it.
  if (word.find_first_of("+@") != std::string::npos) return word;
  const std::vector<Scenario> all = scenarios(machine);
  std::vector<std::string_view> names;
  for (const Scenario& s : all) {
    if (s.name == word) return s.path.empty() ? s.name : s.path;
    names.push_back(s.name);
  }
  const std::string shown = clean_text(word, 64);
  return Status(Code::kInvalidArgument, say(MessageId::kSimUnknownScenario, lang, shown) +
                                            config::did_you_mean(shown, names, "", lang));
}

Status check_scenario(const std::string& library, const std::string& scenario, Lang lang) {
  const Result<platform::DynamicLibrary> opened = platform::DynamicLibrary::open(library);
  if (!opened.ok()) {
    return {Code::kUnavailable, say(MessageId::kNvmlLibraryUnusable, lang, clean_text(library),
                                    clean_text(opened.status().message()))};
  }
  using Check = const char* (*)(const char*);
  const auto check = reinterpret_cast<Check>(opened->symbol("gpusight_sim_check"));
  const char* problem = check == nullptr ? nullptr : check(scenario.c_str());
  if (problem == nullptr || *problem == 0) return {};
  return {Code::kInvalidArgument, clean_text(problem, 1024)};
}

platform::Environment simulated_environment(const platform::Environment& environment,
                                            const std::string& library,
                                            const std::string& scenario) {
  platform::Environment changed = environment;
  std::string& folders = changed["LD_LIBRARY_PATH"];
  folders = folder_of(library) + (folders.empty() ? "" : ":" + folders);
  changed["GPUSIGHT_SIM_SCENARIO"] = scenario;
  changed["GPUSIGHT_NVML"] = library;
  return changed;
}

int run_sim(const config::Config& config, const Machine& machine, Io& io) {
  const Lang lang = config.lang();
  const auto fail = [&](const std::string& text, int code) {
    io.err("gpusight: " + text + "\n");
    return code;
  };
  if (config.get<OptionId::kList>()) {
    const bool json = config.get<OptionId::kJson>();
    io.write(json ? list_json(machine) : list_text(machine, config, io));
    return kExitOk;
  }
  if (config.arguments().empty() || config.rest().empty()) {
    const std::string missing = config.arguments().empty() ? "SCENARIO" : "-- COMMAND";
    return fail(say(MessageId::kUsageMissingArgument, lang, missing) + "; " +
                    say(MessageId::kUsageSeeHelp, lang, std::string("sim")),
                kExitUsage);
  }
  const Result<std::string> scenario = resolve_scenario(machine, config.arguments()[0], lang);
  if (!scenario.ok()) return fail(scenario.status().message(), kExitUsage);
  const Result<std::string> library = find_simulator(machine, lang);
  if (!library.ok()) return fail(library.status().message(), kExitEnvironment);
  const Status playable = check_scenario(*library, *scenario, lang);
  if (!playable.ok()) {
    const bool is_users = playable.code() == Code::kInvalidArgument;
    return fail(playable.message(), is_users ? kExitUsage : kExitEnvironment);
  }
  return execute(config.rest(), machine,
                 simulated_environment(machine.environment, *library, *scenario), lang, io);
}

}  // namespace gpusight::cli

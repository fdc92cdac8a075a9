// The checks themselves, in the order in which their faults explain each other.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>

#include "base/fd.h"
#include "base/text.h"
#include "catalog/message.h"
#include "cli/daemon.h"
#include "cli/format.h"
#include "cli/selftest.h"
#include "cli/sim.h"
#include "platform/pci.h"

namespace gpusight::cli {
namespace {

using catalog::Lang;
using catalog::MessageId;
using config::OptionId;

class Checker {
 public:
  explicit Checker(const SelftestInput& input) : in_(input), lang_(input.config.lang()) {}

  std::vector<Check> run() {
    check_config();
    check_numbers();
    check_clock();
    const bool has_nvidia = check_pci();
    check_device_files();
    check_sources(has_nvidia);
    check_process_names();
    const bool daemon_runs = check_daemon();
    check_state_dir();
    for (const config::Address& a : in_.config.get<OptionId::kListen>()) {
      check_listen(a, daemon_runs);
    }
    check_page();
    check_simulator();
    return std::move(checks_);
  }

 private:
  template <typename... Args>
  std::string text(MessageId id, const Args&... args) const {
    return say(id, lang_, args...);
  }

  void add(std::string key, std::string name, Verdict verdict, std::string found,
           std::string advice = "") {
    checks_.push_back(
        {std::move(key), std::move(name), verdict, std::move(found), std::move(advice)});
  }

  void check_config() {
    const std::string& file = in_.config.file();
    add("config", text(MessageId::kCheckConfig), Verdict::kOk,
        file.empty() ? text(MessageId::kFoundNoConfigFile)
                     : text(MessageId::kFoundConfigFile, clean_text(file)));
  }

  // Numbers must not go through the C library's locale.
  void check_numbers() {
    const bool sound = number_text(1234.5) == "1234.5" && parse_double("1234.5") == 1234.5;
    add("numbers", text(MessageId::kCheckNumbers), sound ? Verdict::kOk : Verdict::kFail,
        sound ? text(MessageId::kFoundNumbersSound)
              : text(MessageId::kFoundNumbersBroken, std::string("1234.5")));
  }

  void check_clock() {
    const auto name =
        in_.root.read_trimmed("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    // Those that the kernel can only read with a slow port or bus access, never from user space.
    constexpr std::string_view kSlow[] = {"hpet", "acpi_pm", "jiffies", "pit"};
    if (!name || name->empty()) {
      add("clock", text(MessageId::kCheckClock), Verdict::kOk, text(MessageId::kFoundNoClock));
    } else if (std::ranges::find(kSlow, *name) != std::end(kSlow)) {
      add("clock", text(MessageId::kCheckClock), Verdict::kWarn,
          text(MessageId::kFoundSlowClock, clean_text(*name)), text(MessageId::kDoClock));
    } else {
      add("clock", text(MessageId::kCheckClock), Verdict::kOk,
          text(MessageId::kFoundClock, clean_text(*name)));
    }
  }

  // True if an NVIDIA device is among them.
  bool check_pci() {
    std::string found;
    std::string without_driver;
    bool has_nvidia = false;
    for (const platform::PciDevice& device : platform::display_devices(in_.root)) {
      // Others are the consoles of server boards.
      constexpr uint32_t kVendors[] = {platform::kVendorNvidia, 0x1002 /* AMD */,
                                       0x8086 /* Intel */};
      if (std::ranges::find(kVendors, device.vendor) == std::end(kVendors)) continue;
      has_nvidia = has_nvidia || device.vendor == platform::kVendorNvidia;
      const std::string shown = clean_text(device.address, 32);
      const std::string driver = clean_text(device.driver, 32);
      if (driver.empty() && without_driver.empty()) without_driver = shown;
      found += (found.empty() ? "" : ", ") + shown + (driver.empty() ? "" : " (" + driver + ")");
    }
    const std::string name = text(MessageId::kCheckPci);
    if (found.empty()) {
      add("pci", name, Verdict::kWarn, text(MessageId::kFoundNoGpus),
          text(MessageId::kDoNothingOnBus));
    } else if (!without_driver.empty()) {
      add("pci", name, Verdict::kFail, text(MessageId::kFoundGpuWithoutDriver, without_driver),
          text(MessageId::kDoDriver));
    } else {
      add("pci", name, Verdict::kOk, text(MessageId::kFoundGpus, found));
    }
    return has_nvidia;
  }

  void check_device_files() {
    const std::string name = text(MessageId::kCheckDeviceFiles);
    if (!in_.root.exists("/proc/driver/nvidia/version")) {
      add("device_files", name, Verdict::kOk, text(MessageId::kFoundNoNvidiaDriver));
      return;
    }
    std::vector<std::string> files = {"/dev/nvidiactl"};
    for (const std::string& file : in_.root.list("/dev")) {
      const bool numbered =
          file.starts_with("nvidia") && file.size() > 6 &&
          std::ranges::all_of(file.substr(6), [](char c) { return c >= '0' && c <= '9'; });
      if (numbered) files.push_back("/dev/" + file);
    }
    std::string good;
    for (const std::string& file : files) {
      const int error = open_error(file);
      if (error == ENOENT) {
        add("device_files", name, Verdict::kFail, text(MessageId::kFoundNoDeviceFiles, file),
            text(MessageId::kDoDeviceFiles));
        return;
      }
      if (error != 0) {
        add("device_files", name, Verdict::kFail, text(MessageId::kFoundDeviceFileClosed, file),
            text(MessageId::kDoPermission));
        return;
      }
      good += (good.empty() ? "" : ", ") + file;
    }
    add("device_files", name, Verdict::kOk, text(MessageId::kFoundDeviceFiles, good));
  }

  // By asking, not by opening: opening a GPU's file wakes it.
  int open_error(const std::string& file) const {
    const std::string path = in_.root.real_path(file);
    return ::faccessat(AT_FDCWD, path.c_str(), R_OK | W_OK, AT_EACCESS) == 0 ? 0 : errno;
  }

  void check_sources(bool has_nvidia) {
    for (const model::SourceStatus& source : in_.hooks.probe_sources()) {
      const bool nvml_missing = source.name == "nvml" && has_nvidia;
      const bool nothing_there = source.message == MessageId::kAmdgpuNone;
      const Verdict verdict = source.phase == model::SourcePhase::kStuck      ? Verdict::kFail
                              : source.phase == model::SourcePhase::kDegraded ? Verdict::kWarn
                              : source.phase == model::SourcePhase::kAbsent && nvml_missing
                                  ? Verdict::kFail
                              : nothing_there                               ? Verdict::kOk
                              : source.phase == model::SourcePhase::kAbsent ? Verdict::kWarn
                                                                            : Verdict::kOk;
      add("source." + source.name, text(MessageId::kCheckSource, source.name), verdict,
          catalog::format_message(source.message, lang_, source.arguments));
    }
  }

  void check_process_names() {
    // The initial PID namespace has this number on every kernel (include/linux/proc_ns.h).
    constexpr std::string_view kInitialNamespace = "pid:[4026531836]";
    const auto own = in_.root.link_name("/proc/self/ns/pid");
    const bool foreign = own && *own != kInitialNamespace;
    add("process_names", text(MessageId::kCheckContainer), foreign ? Verdict::kWarn : Verdict::kOk,
        text(foreign ? MessageId::kFoundOwnNamespace : MessageId::kFoundHostNamespace),
        foreign ? text(MessageId::kDoHostPid) : "");
  }

  // True if one answers.
  bool check_daemon() {
    const std::string& named = in_.config.get<OptionId::kSocket>();
    const std::vector<std::string> sockets =
        named.empty() ? in_.machine.paths.daemon_sockets : std::vector<std::string>{named};
    const Result<DaemonAnswer> answer = ask_daemon(in_.client, sockets, "/healthz");
    const std::string name = text(MessageId::kCheckDaemon);
    if (answer.ok() && answer->response.status == 200) {
      add("daemon", name, Verdict::kOk, text(MessageId::kFoundDaemon, clean_text(answer->socket)));
      return true;
    }
    if (!answer.ok() && answer.status().code() == Code::kNotFound) {
      add("daemon", name, Verdict::kOk, text(MessageId::kFoundNoDaemon),
          text(MessageId::kDoStartDaemon));
      return false;
    }
    const std::string what = answer.ok()
                                 ? text(MessageId::kFoundBrokenDaemon, clean_text(answer->socket),
                                        "HTTP " + std::to_string(answer->response.status))
                                 : clean_text(answer.status().message());
    add("daemon", name, Verdict::kFail, what, text(MessageId::kDoRestartDaemon));
    return answer.ok();
  }

  void check_state_dir() {
    const std::string& named = in_.config.get<OptionId::kStateDir>();
    const std::string& dir = named.empty() ? in_.machine.paths.state_dir : named;
    const std::string name = text(MessageId::kCheckState);
    if (dir.empty()) {
      add("state_dir", name, Verdict::kWarn, text(MessageId::kFoundNoStateDir),
          text(MessageId::kDoStateDir));
      return;
    }
    // It is made when it is needed: then the nearest folder that is there must allow that.
    std::string at = dir;
    struct stat info {};
    while (at.size() > 1 && ::stat(at.c_str(), &info) != 0 && errno == ENOENT) {
      at.resize(std::max<size_t>(at.rfind('/'), 1));
    }
    const bool is_folder = ::stat(at.c_str(), &info) != 0 || S_ISDIR(info.st_mode);
    const bool open = ::faccessat(AT_FDCWD, at.c_str(), W_OK | X_OK, AT_EACCESS) == 0;
    const int error = is_folder ? errno : ENOTDIR;
    if (is_folder && open) {
      add("state_dir", name, Verdict::kOk, text(MessageId::kFoundStateWritable, clean_text(dir)));
    } else {
      add("state_dir", name, Verdict::kWarn,
          text(MessageId::kFoundStateNotWritable, clean_text(dir),
               std::generic_category().message(error)),
          text(MessageId::kDoStateDir));
    }
  }

  void check_listen(const config::Address& address, bool daemon_runs) {
    const std::string shown = config::address_text(address);
    const std::string name = text(MessageId::kCheckListen, shown);
    const int error = bind_error(address);
    if (error == 0) {
      add("listen", name, Verdict::kOk, text(MessageId::kFoundPortFree));
    } else if (error == EADDRINUSE && daemon_runs) {
      add("listen", name, Verdict::kOk, text(MessageId::kFoundPortOurs));
    } else {
      add("listen", name, Verdict::kFail,
          error == EADDRINUSE
              ? text(MessageId::kListenInUse, shown)
              : text(MessageId::kListenFailed, shown, std::generic_category().message(error)),
          error == EADDRINUSE ? "" : text(MessageId::kDoPort));
    }
  }

  // What binding says; the socket is closed again at once and never listens.
  static int bind_error(const config::Address& address) {
    sockaddr_storage storage{};
    socklen_t length = sizeof(sockaddr_in);
    auto* v4 = reinterpret_cast<sockaddr_in*>(&storage);
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&storage);
    const char* host = address.host == "localhost" ? "127.0.0.1" : address.host.c_str();
    if (::inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
      v4->sin_family = AF_INET;
      v4->sin_port = htons(address.port);
    } else if (::inet_pton(AF_INET6, host, &v6->sin6_addr) == 1) {
      v6->sin6_family = AF_INET6;
      v6->sin6_port = htons(address.port);
      length = sizeof(sockaddr_in6);
    } else {
      return EADDRNOTAVAIL;  // a name; looking it up would ask the network
    }
    const UniqueFd fd(::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fd.valid()) return errno;
    const int yes = 1;
    ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    return ::bind(fd.get(), reinterpret_cast<sockaddr*>(&storage), length) == 0 ? 0 : errno;
  }

  void check_page() {
    const bool has = in_.hooks.has_page;
    add("page", text(MessageId::kCheckPage), has ? Verdict::kOk : Verdict::kWarn,
        text(has ? MessageId::kFoundPage : MessageId::kFoundNoPage),
        has ? "" : text(MessageId::kDoPage));
  }

  void check_simulator() {
    const Result<std::string> library = find_simulator(in_.machine, lang_);
    add("simulator", text(MessageId::kCheckSimulator), library.ok() ? Verdict::kOk : Verdict::kWarn,
        library.ok() ? text(MessageId::kFoundSimulator, clean_text(*library))
                     : library.status().message(),
        library.ok() ? "" : text(MessageId::kDoSimulator));
  }

  const SelftestInput& in_;
  Lang lang_;
  std::vector<Check> checks_;
};

}  // namespace

std::vector<Check> run_checks(const SelftestInput& input) { return Checker(input).run(); }

}  // namespace gpusight::cli

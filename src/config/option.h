// THE table of options. One row is everything the program knows of an option: its flag, its
// environment variable, its key in the configuration file, its type, default and bounds, which
// commands take it, and its help. Parsing, --help, the manual page, the reference and the shell
// completions are made from the rows. Constant data, any thread.
//
// To add an option: an enumerator in OptionId and a row in kOptions at the same place; then
// `config.get<OptionId::kNew>()` has the type of the row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "catalog/metric.h"
#include "config/command.h"

namespace gpusight::config {

enum class OptionId : uint8_t {
  kConfig,
  kLang,
  kLogLevel,
  kNoColor,
  kNvml,
  kRoot,
  kStateDir,
  kSocket,
  kInterval,
  kListen,
  kMetricsNames,
  kDisabledMetrics,
  kJobMapDir,
  kSimulate,
  kNoHistory,
  kHistoryCommit,
  kHistoryRaw,
  kHistoryMinutes,
  kHistoryHours,
  kHistorySize,
  kHistoryFile,
  kMatch,
  kStart,
  kEnd,
  kFor,
  kAt,
  kRange,
  kStep,
  kOutput,
  kSettle,
  kWatch,
  kJson,
  kCsv,
  kQuery,
  kMarkdown,
  kList,
  kCount,
};
inline constexpr size_t kOptionCount = static_cast<size_t>(OptionId::kCount);

enum class OptionType : uint8_t {
  kText,       // std::string
  kPath,       // std::string; empty: not set
  kChoice,     // std::string, one of `choices`
  kBool,       // bool
  kDuration,   // Duration
  kInteger,    // int64_t
  kAddresses,  // std::vector<Address>
  kWords,      // std::vector<std::string>, by commas; of `choices` where there are any
  kMetrics,    // std::vector<std::string>, by commas; each as catalog::named_metrics() takes it
};

// Where to listen or connect: a host name or an IP address without brackets, and a port.
struct Address {
  std::string host;
  uint16_t port = 0;
  bool operator==(const Address&) const = default;
};
std::string address_text(const Address& address);  // "127.0.0.1:9780", "[::1]:9780"

using OptionValue = std::variant<std::string, bool, Duration, int64_t, std::vector<Address>,
                                 std::vector<std::string>>;

struct OptionRow {
  OptionId id;
  std::string_view flag;              // without the dashes
  char letter = 0;                    // the short flag; 0: none
  std::string_view environment = {};  // empty: none
  std::string_view key = {};          // in the file, dotted; empty: none
  OptionType type = OptionType::kText;
  std::string_view value_name = {};  // as usage shows it: "HOST:PORT"
  std::string_view initial = {};     // the default, written as on the command line; empty: not set
  std::string_view implied = {};     // the value of the flag given alone; empty: it needs one
  std::string_view choices = {};     // by spaces; for kText they are suggestions
  // Bounds of durations (milliseconds) and integers, both ends included; none when equal.
  int64_t min = 0;
  int64_t max = 0;
  CommandSet commands = kEveryCommand;
  catalog::Text help;  // one or two sentences
  // What the default is when it is not a fixed text.
  catalog::Text initial_help = {};
  std::string_view since;  // the version that has it first
};

// Commands that read devices, themselves or through the daemon.
inline constexpr CommandSet kReaders = set_of(CommandId::kStatus) | set_of(CommandId::kWho) |
                                       set_of(CommandId::kServe) | set_of(CommandId::kSelftest);
// Commands that read recorded history.
inline constexpr CommandSet kHistorians = set_of(CommandId::kQuery) | set_of(CommandId::kHistory);

inline constexpr OptionRow kOptions[] = {
    {
        .id = OptionId::kConfig,
        .flag = "config",
        .environment = "GPUSIGHT_CONFIG",
        .type = OptionType::kPath,
        .value_name = "FILE",
        .help = {"The configuration file. Named by hand, it must be there.",
                 "配置文件。手动指定时必须存在。"},
        .initial_help = {"/etc/gpusight/gpusight.toml; for users $XDG_CONFIG_HOME/gpusight/"
                         "gpusight.toml where it exists",
                         "/etc/gpusight/gpusight.toml；普通用户优先使用 "
                         "$XDG_CONFIG_HOME/gpusight/gpusight.toml（如存在）"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kLang,
        .flag = "lang",
        .environment = "GPUSIGHT_LANG",
        .key = "lang",
        .type = OptionType::kChoice,
        .value_name = "LANGUAGE",
        .choices = "en zh",
        .help = {"The language of what is shown. Log lines stay English.",
                 "界面语言。日志始终为英文。"},
        .initial_help = {"Chinese if LC_ALL, LC_MESSAGES or LANG begins with zh, else English",
                         "LC_ALL、LC_MESSAGES 或 LANG 以 zh 开头时为中文，否则为英文"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kLogLevel,
        .flag = "log-level",
        .environment = "GPUSIGHT_LOG_LEVEL",
        .key = "log_level",
        .type = OptionType::kChoice,
        .value_name = "LEVEL",
        .initial = "warning",
        .choices = "debug info warning error off",
        .help = {"How much is logged on standard error. The daemon logs info unless told "
                 "otherwise.",
                 "标准错误上的日志详细程度。守护进程默认为 info。"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kNoColor,
        .flag = "no-color",
        .environment = "NO_COLOR",
        .type = OptionType::kBool,
        .initial = "false",
        .help = {"No colours on the terminal. Set in the environment to anything, it counts.",
                 "终端不使用颜色。环境变量设为任何值都有效。"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kNvml,
        .flag = "nvml",
        .environment = "GPUSIGHT_NVML",
        .key = "nvml.library",
        .type = OptionType::kPath,
        .value_name = "PATH",
        .commands = kReaders,
        .help = {"The NVML library to load. As root it must belong to root and be writable by "
                 "nobody else.",
                 "要加载的 NVML 库。以 root 运行时，该文件必须属于 root 且他人不可写。"},
        .initial_help = {"libnvidia-ml.so.1 where the driver installs it",
                         "驱动安装的 libnvidia-ml.so.1"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kRoot,
        .flag = "root",
        .environment = "GPUSIGHT_ROOT",
        .key = "root",
        .type = OptionType::kPath,
        .value_name = "DIR",
        .initial = "/",
        .commands = kReaders,
        .help = {"Where /proc and /sys are read: the host's file system as a container sees it, or "
                 "a recorded tree.",
                 "读取 /proc 与 /sys 的根目录：容器中挂载的宿主机文件系统，或录制的目录树。"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kStateDir,
        .flag = "state-dir",
        .environment = "GPUSIGHT_STATE_DIR",
        .key = "state_dir",
        .type = OptionType::kPath,
        .value_name = "DIR",
        .commands = set_of(CommandId::kServe) | set_of(CommandId::kSelftest) | kHistorians,
        .help = {"What the daemon remembers across restarts.", "守护进程跨重启保存状态的目录。"},
        .initial_help = {"/var/lib/gpusight as root or service, else $XDG_STATE_HOME/gpusight",
                         "root 或服务为 /var/lib/gpusight，否则为 $XDG_STATE_HOME/gpusight"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kSocket,
        .flag = "socket",
        .environment = "GPUSIGHT_SOCKET",
        .key = "socket",
        .type = OptionType::kPath,
        .value_name = "PATH",
        .commands = kReaders | set_of(CommandId::kQuery) | set_of(CommandId::kRelease),
        .help = {"The daemon's local socket: where serve listens and the other commands ask.",
                 "守护进程的本地套接字：serve 在此监听，其他命令向其查询。"},
        .initial_help = {"/run/gpusight/gpusight.sock as root or service, else "
                         "$XDG_RUNTIME_DIR/gpusight/gpusight.sock",
                         "root 或服务为 /run/gpusight/gpusight.sock，否则为 "
                         "$XDG_RUNTIME_DIR/gpusight/gpusight.sock"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kInterval,
        .flag = "interval",
        .letter = 'i',
        .environment = "GPUSIGHT_INTERVAL",
        .key = "sample.interval",
        .type = OptionType::kDuration,
        .value_name = "DURATION",
        .initial = "1s",
        .min = 100,
        .max = 60'000,
        .commands = set_of(CommandId::kServe),
        .help = {"How often the devices are read.", "读取设备的周期。"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kListen,
        .flag = "listen",
        .environment = "GPUSIGHT_LISTEN",
        .key = "serve.listen",
        .type = OptionType::kAddresses,
        .value_name = "HOST:PORT",
        .initial = "127.0.0.1:9780",
        .commands = set_of(CommandId::kServe) | set_of(CommandId::kSelftest),
        .help = {"Where page, API and /metrics are served; several by commas or by repeating it. "
                 "Port 0 takes a free one. Beyond loopback needs TLS and tokens.",
                 "提供页面、API 与 /metrics 的地址；可用逗号或重复选项给出多个。端口 0 "
                 "表示任选空闲端口。回环以外的地址需要 TLS 与令牌。"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kMetricsNames,
        .flag = "metrics-names",
        .environment = "GPUSIGHT_METRICS_NAMES",
        .key = "serve.metrics_names",
        .type = OptionType::kWords,
        .value_name = "NAMES",
        .initial = "gpusight",
        .choices = "gpusight dcgm dcgm46 nvidia_smi",
        .commands = set_of(CommandId::kServe),
        .help = {"Under whose names /metrics speaks when a scrape does not say (/metrics?names=…): "
                 "gpusight's own, dcgm-exporter's before or from DCGM 4.6, nvidia_gpu_exporter's, "
                 "or several by commas.",
                 "抓取请求未指定（/metrics?names=…）时 /metrics 使用的指标名称：gpusight 自身、"
                 "dcgm-exporter（DCGM 4.6 之前或之后）、nvidia_gpu_exporter，可用逗号给出多个。"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kDisabledMetrics,
        .flag = "disable-metrics",
        .environment = "GPUSIGHT_DISABLE_METRICS",
        .key = "metrics.disabled",
        .type = OptionType::kMetrics,
        .value_name = "NAMES",
        .commands = kReaders,
        .help = {"Metrics that are not collected, by commas: names, patterns such as gpu_nvlink_*, "
                 "or groups such as activity. Driver calls that serve only them are not made.",
                 "不采集的指标（逗号分隔）：名称、模式（如 gpu_nvlink_*）或分组（如 activity）。"
                 "仅为它们服务的驱动调用也不再进行。"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kJobMapDir,
        .flag = "job-map-dir",
        .environment = "GPUSIGHT_JOB_MAP_DIR",
        .key = "attribute.job_map_dir",
        .type = OptionType::kPath,
        .value_name = "DIR",
        .commands = kReaders,
        .help = {"Where the batch system writes which GPU belongs to which job, as dcgm-exporter "
                 "has it: a file for each GPU's index, a job id a line. /run/gpustat is read "
                 "anyhow.",
                 "批处理系统记录 GPU 所属作业的目录，格式同 dcgm-exporter：每个 GPU "
                 "索引一个文件，每行一个作业号。/run/gpustat 总会读取。"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kSimulate,
        .flag = "simulate",
        .environment = "GPUSIGHT_SIMULATE",
        .key = "serve.simulate",
        .type = OptionType::kText,
        .value_name = "WHEN",
        .initial = "never",
        .choices = "never if-no-gpu h100-training rtx4090-desktop a100-mig",
        .commands = set_of(CommandId::kServe),
        .help =
            {"Serve the simulated machine: never, if-no-gpu (h100-training where there is no "
             "GPU), or always, naming a scenario. Every view then says SIMULATED.",
             "使用模拟机器：never（从不）、if-no-gpu（没有 GPU 时使用 h100-training），或给出场景名"
             "（总是使用）。此时所有界面都会注明“模拟”。"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kNoHistory,
        .flag = "no-history",
        .environment = "GPUSIGHT_NO_HISTORY",
        .key = "history.disabled",
        .type = OptionType::kBool,
        .initial = "false",
        .commands = set_of(CommandId::kServe),
        .help = {"Record nothing on disk: only the last ten minutes are remembered.",
                 "不在磁盘上记录历史：只保留最近十分钟。"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kHistoryCommit,
        .flag = "history-commit",
        .environment = "GPUSIGHT_HISTORY_COMMIT",
        .key = "history.commit_interval",
        .type = OptionType::kDuration,
        .value_name = "DURATION",
        .initial = "10s",
        .min = 1'000,
        .max = 10'000,
        .commands = set_of(CommandId::kServe),
        .help = {"How often samples are written to disk: what a crash or a loss of power costs at "
                 "most.",
                 "样本写入磁盘的周期：崩溃或断电时最多丢失这段时间的数据。"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kHistoryRaw,
        .flag = "history-raw",
        .environment = "GPUSIGHT_HISTORY_RAW",
        .key = "history.keep_raw",
        .type = OptionType::kDuration,
        .value_name = "DURATION",
        .initial = "7d",
        .min = 6 * 3'600'000LL,
        .max = 3650 * 86'400'000LL,
        .commands = set_of(CommandId::kServe),
        .help = {"How long every sample is kept.", "每个样本的保留时间。"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kHistoryMinutes,
        .flag = "history-minutes",
        .environment = "GPUSIGHT_HISTORY_MINUTES",
        .key = "history.keep_minutes",
        .type = OptionType::kDuration,
        .value_name = "DURATION",
        .initial = "90d",
        .min = 6 * 3'600'000LL,
        .max = 3650 * 86'400'000LL,
        .commands = set_of(CommandId::kServe),
        .help = {"How long the minimum, maximum, sum and so on of each minute are kept.",
                 "每分钟的最小值、最大值、总和等的保留时间。"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kHistoryHours,
        .flag = "history-hours",
        .environment = "GPUSIGHT_HISTORY_HOURS",
        .key = "history.keep_hours",
        .type = OptionType::kDuration,
        .value_name = "DURATION",
        .initial = "1825d",
        .min = 6 * 3'600'000LL,
        .max = 36500 * 86'400'000LL,
        .commands = set_of(CommandId::kServe),
        .help = {"How long the same of each hour is kept.", "每小时的同类数据的保留时间。"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kHistorySize,
        .flag = "history-size",
        .environment = "GPUSIGHT_HISTORY_SIZE",
        .key = "history.max_mib",
        .type = OptionType::kInteger,
        .value_name = "MIB",
        .initial = "2048",
        .min = 64,
        .max = 16'777'216,
        .commands = set_of(CommandId::kServe),
        .help =
            {"How large recorded history may be on disk, in MiB. Beyond it the oldest goes, the "
             "finest first.",
             "历史数据在磁盘上的上限（MiB）。超出时先删除最旧且最细的数据。"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kHistoryFile,
        .flag = "history-file",
        .type = OptionType::kText,
        .value_name = "NAME",
        .initial = "history.db",
        .commands = kHistorians,
        .help = {"Which history of the state directory: a machine that was simulated or read "
                 "through a library named by hand has one of its own.",
                 "状态目录中的哪一份历史：模拟机器或手动指定驱动库的机器各有自己的一份。"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kMatch,
        .flag = "match",
        .letter = 'm',
        .type = OptionType::kText,
        .value_name = "SELECTOR",
        .commands = set_of(CommandId::kHistory),
        .help = {"Only these series of export and import: a PromQL selector such as "
                 "'gpu_power_watts' or '{uuid=\"GPU-…\"}'.",
                 "只导出或导入这些序列：PromQL 选择器，如 'gpu_power_watts' 或 "
                 "'{uuid=\"GPU-…\"}'。"},
        .initial_help = {"every series", "所有序列"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kStart,
        .flag = "start",
        .type = OptionType::kText,
        .value_name = "TIME",
        .commands = kHistorians,
        .help = {"The first moment: 2026-11-30T03:12:00Z, '2026-11-30 03:12' or 03:12 in local "
                 "time, Unix seconds, now, or -1h for an hour ago.",
                 "起始时刻：2026-11-30T03:12:00Z、本地时间 '2026-11-30 03:12' 或 03:12、Unix "
                 "秒数、now，或 -1h 表示一小时前。"},
        .initial_help = {"of export the first sample; of query --end less --range",
                         "export 为首个样本；query 为 --end 减去 --range"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kEnd,
        .flag = "end",
        .type = OptionType::kText,
        .value_name = "TIME",
        .initial = "now",
        .implied = "now",
        .commands = kHistorians | set_of(CommandId::kRelease),
        .help =
            {"The last moment, written as for --start. Of release, alone: the devices are taken "
             "back now.",
             "结束时刻，写法同 --start。用于 release 时单独使用：立即重新接管设备。"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kFor,
        .flag = "for",
        .type = OptionType::kDuration,
        .value_name = "DURATION",
        .initial = "10m",
        .min = 1'000,
        .max = 86'400'000,
        .commands = set_of(CommandId::kRelease),
        .help = {"How long the devices are let go of, at most a day.",
                 "释放设备的时长，最长一天。"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kAt,
        .flag = "at",
        .type = OptionType::kText,
        .value_name = "TIME",
        .initial = "now",
        .commands = set_of(CommandId::kQuery),
        .help = {"The moment of an instant query, written as for --start.",
                 "瞬时查询的时刻，写法同 --start。"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kRange,
        .flag = "range",
        .type = OptionType::kDuration,
        .value_name = "DURATION",
        .min = 1,
        .max = 36500 * 86'400'000LL,
        .commands = set_of(CommandId::kQuery),
        .help = {"Ask over this long before --end instead of once.",
                 "在 --end 之前的这段时间内查询，而不是查询一次。"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kStep,
        .flag = "step",
        .type = OptionType::kDuration,
        .value_name = "DURATION",
        .min = 1,
        .max = 36500 * 86'400'000LL,
        .commands = set_of(CommandId::kQuery),
        .help = {"How far apart the steps of a range are.", "范围查询的步长。"},
        .initial_help = {"a 250th of the range, at least a second", "范围的 1/250，至少一秒"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kOutput,
        .flag = "output",
        .letter = 'o',
        .type = OptionType::kPath,
        .value_name = "FILE",
        .commands = set_of(CommandId::kHistory),
        .help = {"Where export writes; a file that is there is replaced once all is written.",
                 "export 的输出文件；已有文件在全部写完后才被替换。"},
        .initial_help = {"standard output", "标准输出"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kSettle,
        .flag = "settle",
        .type = OptionType::kDuration,
        .value_name = "DURATION",
        .initial = "0s",
        .implied = "1s",
        .min = 0,
        .max = 60'000,
        .commands = set_of(CommandId::kStatus) | set_of(CommandId::kWho),
        .help =
            {"Without a daemon: wait this long between two readings, so that what needs two "
             "is there. Alone it means 1s.",
             "没有守护进程时：两次读数之间等待的时间，使需要两次读数的数值可用。单独使用时为 1s。"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kWatch,
        .flag = "watch",
        .letter = 'w',
        .type = OptionType::kDuration,
        .value_name = "DURATION",
        .implied = "1s",
        .min = 100,
        .max = 3'600'000,
        .commands = set_of(CommandId::kStatus),
        .help =
            {"Show again at this interval, until interrupted: the table in place, --json as one "
             "document a line. Alone it means 1s.",
             "按此周期重复显示直到中断：表格原位刷新，--json 每行一份文档。单独使用时为 1s。"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kJson,
        .flag = "json",
        .letter = 'j',
        .type = OptionType::kBool,
        .initial = "false",
        .commands = set_of(CommandId::kStatus) | set_of(CommandId::kWho) |
                    set_of(CommandId::kMetrics) | set_of(CommandId::kSelftest) |
                    set_of(CommandId::kSim) | set_of(CommandId::kVersion) | kHistorians,
        .help = {"JSON: numbers are numbers in SI units, what is absent is null with its reason.",
                 "输出 JSON：数值使用国际单位，缺失的值为 null 并附原因。"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kCsv,
        .flag = "csv",
        .type = OptionType::kBool,
        .initial = "false",
        .commands = set_of(CommandId::kStatus) | kHistorians,
        .help = {"CSV with a header row; what is absent is an empty field.",
                 "输出带标题行的 CSV；缺失的值为空字段。"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kQuery,
        .flag = "query",
        .letter = 'q',
        .type = OptionType::kWords,
        .value_name = "NAME,…",
        .commands = set_of(CommandId::kStatus),
        .help = {"Only these columns, by commas: facts of the device (index, name, uuid, …) and "
                 "metrics, with {label} where they have one. As CSV, or with --json as objects.",
                 "只输出这些列（逗号分隔）：设备信息（index、name、uuid 等）与指标，有标签的写作 "
                 "{label}。输出 CSV，配合 --json 则输出对象。"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kMarkdown,
        .flag = "markdown",
        .type = OptionType::kBool,
        .initial = "false",
        .commands = set_of(CommandId::kMetrics),
        .help = {"Markdown, as in the documentation.", "输出 Markdown，与文档一致。"},
        .since = "0.1.0",
    },
    {
        .id = OptionId::kList,
        .flag = "list",
        .letter = 'l',
        .type = OptionType::kBool,
        .initial = "false",
        .commands = set_of(CommandId::kSim),
        .help = {"List the scenarios.", "列出场景。"},
        .since = "0.1.0",
    },
};

consteval bool option_rows_are_sound() {
  for (size_t i = 0; i < std::size(kOptions); ++i) {
    const OptionRow& row = kOptions[i];
    if (static_cast<size_t>(row.id) != i || row.flag.empty() || row.since.empty()) return false;
    if (row.help.en.empty() || row.help.zh.empty()) return false;
    if ((row.type == OptionType::kBool) != row.value_name.empty()) return false;
    if (row.type == OptionType::kChoice && row.choices.empty()) return false;
    for (size_t j = 0; j < i; ++j) {
      if (kOptions[j].flag == row.flag) return false;
      if (row.letter != 0 && kOptions[j].letter == row.letter) return false;
      if (!row.key.empty() && kOptions[j].key == row.key) return false;
    }
  }
  return std::size(kOptions) == kOptionCount;
}
static_assert(option_rows_are_sound(), "order, names or texts of an option");

static_assert(
    kOptions[static_cast<size_t>(OptionId::kSimulate)].choices.ends_with(kBuiltinScenarios),
    "--simulate offers every built-in scenario");

constexpr const OptionRow& option(OptionId id) { return kOptions[static_cast<size_t>(id)]; }
const OptionRow* find_option_by_flag(std::string_view flag);  // nullptr if there is none
const OptionRow* find_option_by_letter(char letter);
const OptionRow* find_option_by_key(std::string_view key);
constexpr bool takes(CommandId command, const OptionRow& row) {
  return (row.commands & set_of(command)) != 0;
}

// The C++ type that a row's value has.
template <OptionType type>
struct ValueOf {
  using Type = std::string;
};
template <>
struct ValueOf<OptionType::kBool> {
  using Type = bool;
};
template <>
struct ValueOf<OptionType::kDuration> {
  using Type = Duration;
};
template <>
struct ValueOf<OptionType::kInteger> {
  using Type = int64_t;
};
template <>
struct ValueOf<OptionType::kAddresses> {
  using Type = std::vector<Address>;
};
template <>
struct ValueOf<OptionType::kWords> {
  using Type = std::vector<std::string>;
};
template <>
struct ValueOf<OptionType::kMetrics> {
  using Type = std::vector<std::string>;
};

}  // namespace gpusight::config

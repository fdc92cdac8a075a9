// THE table of commands.
#include <algorithm>
#include <iterator>

#include "config/command.h"

namespace gpusight::config {
namespace {

constexpr Example kStatusExamples[] = {
    {"gpusight status", {"a table of every GPU", "所有 GPU 的表格"}},
    {"gpusight status --json | jq '.devices[].metrics.gpu_power_watts'",
     {"typed numbers for a program", "供程序使用的类型化数值"}},
    {"gpusight status --query index,name,gpu_power_watts,gpu_clock_hertz{sm}",
     {"chosen columns as CSV", "以 CSV 输出所选列"}},
    {"gpusight status --watch 1s --json", {"one JSON document a second", "每秒一份 JSON 文档"}},
};
constexpr Example kServeExamples[] = {
    {"gpusight serve",
     {"page, API and /metrics on 127.0.0.1:9780", "在 127.0.0.1:9780 提供页面、API 与 /metrics"}},
    {"gpusight serve --simulate if-no-gpu",
     {"the simulated machine where there is no GPU", "没有 GPU 时使用模拟机器"}},
};
constexpr Example kWhoExamples[] = {
    {"gpusight who", {"whose processes are on the GPUs now", "当前各 GPU 上是谁的进程"}},
    {"gpusight who 3", {"on one GPU, by its number", "某一块 GPU（按编号）"}},
    {"gpusight who --json | jq '.devices[].processes[].container'",
     {"the same for a program", "同样内容，供程序使用"}},
};
constexpr Example kQueryExamples[] = {
    {"gpusight query 'delta(gpu_memory_used_bytes[24h]) > 1073741824'",
     {"whose memory grew by more than 1 GiB in a day", "一天内显存增长超过 1 GiB 的 GPU"}},
    {"gpusight query 'avg_over_time(gpu_temperature_celsius[30m]) > 80'",
     {"who was hotter than 80 °C over the last half hour", "最近半小时平均温度高于 80 °C 的 GPU"}},
    {"gpusight query 'sum(gpu_power_watts)' --range 1h --step 1m --csv",
     {"the power of all, minute by minute, for a spreadsheet", "逐分钟总功率，供电子表格使用"}},
    {"gpusight query gpu_power_watts --at '03:12' --json",
     {"a moment of the past, for a program", "过去某一时刻，供程序使用"}},
};
constexpr Example kHistoryExamples[] = {
    {"gpusight history info", {"what is recorded, since when", "已记录的内容与起始时间"}},
    {"gpusight history export --match 'gpu_power_watts' --start -24h --csv -o power.csv",
     {"a day of power for a spreadsheet", "一天的功率数据，供电子表格使用"}},
    {"gpusight history import old.om --state-dir /srv/copy",
     {"takes over what was exported elsewhere", "导入在别处导出的历史"}},
};
constexpr Example kMetricsExamples[] = {
    {"gpusight metrics", {"every metric, its unit and meaning", "所有指标及其单位与含义"}},
    {"gpusight metrics --json", {"the same for a program", "同样内容，供程序使用"}},
};
constexpr Example kReleaseExamples[] = {
    {"gpusight release && nvidia-smi --gpu-reset -i 0", {"lets a GPU be reset", "以便重置 GPU"}},
    {"gpusight release --for 1h", {"for an upgrade of the driver", "用于升级驱动"}},
    {"gpusight release --end", {"takes them back", "重新接管"}},
};
constexpr Example kSimExamples[] = {
    {"gpusight sim --list", {"the scenarios there are", "列出可用场景"}},
    {"gpusight sim h100-training -- gpusight status",
     {"eight simulated H100 in training", "八块正在训练的模拟 H100"}},
    {"gpusight sim ./mine.toml -- nvtop",
     {"another tool, a scenario of your own", "其他工具与自定义场景"}},
};
constexpr Example kCompletionsExamples[] = {
    {"gpusight completions bash > ~/.local/share/bash-completion/completions/gpusight",
     {"for bash", "用于 bash"}},
};

constexpr CommandRow kCommands[] = {
    {
        .id = CommandId::kStatus,
        .name = "status",
        .synopsis = "",
        .brief = {"what the GPUs do now, once", "查看 GPU 当前状态（一次）"},
        .help =
            {"Shows every GPU with its load, memory, power, temperature and owners. Asks the "
             "daemon if one runs, else reads the devices itself, once. What needs two readings "
             "is then absent; --settle waits for it. A sleeping GPU is not woken.",
             "显示每块 GPU 的负载、显存、功率、温度与占用者。若守护进程在运行则向其查询，"
             "否则自行读取一次设备。需要两次读数的数值此时缺失；--settle 会等待。不会唤醒休眠的 "
             "GPU。"},
        .examples = kStatusExamples,
    },
    {
        .id = CommandId::kServe,
        .name = "serve",
        .synopsis = "",
        .brief = {"the daemon: sampling, page, API, /metrics",
                  "守护进程：采样、页面、API、/metrics"},
        .help =
            {"Samples every GPU and serves the page, the API and /metrics, on loopback and on a "
             "local socket. SIGHUP reads the configuration again, all or nothing; SIGTERM "
             "leaves within three seconds.",
             "采样所有 GPU，并在回环地址与本地套接字上提供页面、API 与 /metrics。SIGHUP "
             "重新读取配置（全部生效或全部不生效）；收到 SIGTERM 后三秒内退出。"},
        .examples = kServeExamples,
    },
    {
        .id = CommandId::kWho,
        .name = "who",
        .synopsis = "[GPU]",
        .max_arguments = 1,
        .brief = {"whose processes hold the GPUs", "谁的进程占用 GPU"},
        .help =
            {"Lists every process on every GPU, or on the one that is named by number, uuid or "
             "PCI address: its user, where it belongs (job, pod, container or unit), its share and "
             "memory, and what it tells from inside its framework; then the memory and the share "
             "that no process explains. Asks the daemon if one runs, else reads the devices "
             "itself. Other users' processes are shown to root and the daemon's own user.",
             "列出每块 GPU（或按编号、UUID、PCI 地址指定的一块）上的所有进程：用户、归属（作业、"
             "Pod、容器或服务单元）、占用份额与显存，以及其框架内部上报的数据；随后是没有进程能"
             "解释的显存与份额。若守护进程在运行则向其查询，否则自行读取设备。其他用户的进程只对 "
             "root 与守护进程自身的用户显示。"},
        .examples = kWhoExamples,
    },
    {
        .id = CommandId::kQuery,
        .name = "query",
        .synopsis = "EXPRESSION",
        .min_arguments = 1,
        .max_arguments = 1,
        .brief = {"asks the recorded history in PromQL", "用 PromQL 查询历史记录"},
        .help = {"Evaluates a PromQL expression now, at --at, or with --start or --range over a "
                 "span. Asks the daemon if one runs, else reads the state directory itself. "
                 "Warnings go to standard error. Exit code 1 if the answer is empty, 2 if the "
                 "expression is at fault.",
                 "在当前时刻、--at 指定的时刻，或用 --start、--range 指定的时段内计算 PromQL "
                 "表达式。若守护进程在运行则向其查询，否则自行读取状态目录。警告写到标准错误。"
                 "结果为空时退出码为 1，表达式有误时为 2。"},
        .examples = kQueryExamples,
    },
    {
        .id = CommandId::kHistory,
        .name = "history",
        .synopsis = "info|check|export|import [FILE]",
        .min_arguments = 1,
        .max_arguments = 2,
        .words = "info check export import",
        .brief = {"the recorded history itself", "历史记录本身"},
        .help = {"info tells what is recorded; check reads everything and names what is damaged "
                 "(exit code 1); export writes the samples of matching series as OpenMetrics or "
                 "CSV. All three work beside a running daemon. import takes OpenMetrics text with "
                 "times from FILE (- is standard input) and needs the daemon stopped: of each "
                 "series it fills hours in which nothing is recorded, and changes nothing that is.",
                 "info 显示已记录的内容；check 读取全部内容并指出损坏之处（退出码 1）；export "
                 "以 OpenMetrics 或 CSV 输出匹配序列的样本。三者均可在守护进程运行时使用。import "
                 "从 FILE（- 为标准输入）导入带时间的 OpenMetrics 文本，须先停止守护进程："
                 "只填补各序列没有任何记录的小时，不改动已有记录。"},
        .examples = kHistoryExamples,
    },
    {
        .id = CommandId::kMetrics,
        .name = "metrics",
        .synopsis = "",
        .brief = {"the catalogue of metrics", "指标目录"},
        .help =
            {"Lists every metric that gpusight knows: name, unit, kind, how often it is read and "
             "what it means. No device is touched.",
             "列出 gpusight 的所有指标：名称、单位、类型、读取频率与含义。不接触任何设备。"},
        .examples = kMetricsExamples,
    },
    {
        .id = CommandId::kRelease,
        .name = "release",
        .synopsis = "",
        .brief = {"lets go of every GPU for a while", "暂时释放所有 GPU"},
        .help =
            {"Tells the daemon to close the driver and every device file, so that a GPU can be "
             "reset, unbound or its driver upgraded, and returns when that is done. After --for "
             "the daemon takes them back by itself. For root and the daemon's own user. Exit "
             "code 1 if the devices are still held.",
             "让守护进程关闭驱动与所有设备文件，以便重置 GPU、解除绑定或升级驱动；完成后返回。"
             "--for 指定的时间过后守护进程会自行重新接管。仅限 root 与守护进程自身的用户。"
             "若设备仍被占用则退出码为 1。"},
        .examples = kReleaseExamples,
    },
    {
        .id = CommandId::kSelftest,
        .name = "selftest",
        .synopsis = "",
        .brief = {"checks this installation", "检查本机安装"},
        .help = {"Checks what gpusight needs on this machine: devices and their permissions, the "
                 "driver's library, the daemon's socket, the state directory, the port, the clock. "
                 "Each line says ok, warn or fail, and what to do. Exit code 1 if a check failed.",
                 "检查 gpusight 在本机所需的条件：设备及其权限、驱动库、守护进程套接字、状态目录、"
                 "端口与时钟。每行给出结果与处理办法。有检查失败时退出码为 1。"},
    },
    {
        .id = CommandId::kSim,
        .name = "sim",
        .synopsis = "SCENARIO -- COMMAND [ARGUMENT]…",
        .min_arguments = 0,  // --list needs none
        .max_arguments = 1,
        .words = kBuiltinScenarios,
        .rest = Rest::kCommand,
        .brief = {"runs a command on the simulated machine", "在模拟机器上运行命令"},
        .help = {"Runs COMMAND, ours or any other program that reads NVML, against simulated GPUs. "
                 "SCENARIO is the name of a built-in one or a scenario file. Nothing it shows "
                 "exists.",
                 "让 COMMAND（本程序或任何读取 NVML 的程序）使用模拟的 GPU 运行。SCENARIO "
                 "是内置场景名或场景文件。所显示的设备都不存在。"},
        .examples = kSimExamples,
    },
    {
        .id = CommandId::kCompletions,
        .name = "completions",
        .synopsis = "bash|zsh|fish",
        .min_arguments = 1,
        .max_arguments = 1,
        .words = "bash zsh fish",
        .brief = {"completions for a shell", "输出 shell 补全脚本"},
        .help = {"Prints the script that lets the shell complete commands and options.",
                 "输出补全脚本，使 shell 能补全命令与选项。"},
        .examples = kCompletionsExamples,
    },
    {
        .id = CommandId::kHelp,
        .name = "help",
        .synopsis = "[COMMAND]",
        .max_arguments = 1,
        .brief = {"help on gpusight or one command", "查看帮助"},
        .help = {"Tells what a command does and which options it takes.",
                 "说明命令的作用及其选项。"},
    },
    {
        .id = CommandId::kVersion,
        .name = "version",
        .synopsis = "",
        .brief = {"the version", "显示版本"},
        .help = {"Prints the version.", "输出版本号。"},
    },
    {
        .id = CommandId::kGenerate,
        .name = "generate",
        .synopsis = "FOLDER",
        .min_arguments = 1,
        .max_arguments = 1,
        .listed = Listed::kNo,
        .brief = {"writes the generated documents", "生成文档"},
        .help = {"Writes metrics.md, config.md and the manual page gpusight.1 into FOLDER.",
                 "在 FOLDER 中写入 metrics.md、config.md 与手册页 gpusight.1。"},
    },
};

consteval bool rows_stand_in_order() {
  for (size_t i = 0; i < std::size(kCommands); ++i) {
    if (static_cast<size_t>(kCommands[i].id) != i) return false;
    if (kCommands[i].brief.zh.empty() || kCommands[i].help.zh.empty()) return false;
  }
  return std::size(kCommands) == static_cast<size_t>(CommandId::kCount);
}
static_assert(rows_stand_in_order(), "one row for each CommandId, in its order, in both languages");

}  // namespace

std::span<const CommandRow> commands() { return kCommands; }
const CommandRow& command(CommandId id) { return kCommands[static_cast<size_t>(id)]; }

const CommandRow* find_command(std::string_view name) {
  const auto row = std::ranges::find(kCommands, name, &CommandRow::name);
  return row == std::end(kCommands) ? nullptr : &*row;
}

std::vector<std::string_view> listed_command_names() {
  std::vector<std::string_view> names;
  for (const CommandRow& row : kCommands) {
    if (row.listed == Listed::kYes) names.push_back(row.name);
  }
  return names;
}

}  // namespace gpusight::config

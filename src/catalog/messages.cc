// THE table of messages. To add one: an enumerator in message.h at the same place and a row here.
#include "catalog/message.h"

#include <algorithm>

namespace gpusight::catalog {
namespace {

using enum MessageId;

// clang-format off
constexpr MessageRow kMessages[] = {
    {kNone, "none", {"", ""}},
    {kReasonNotSupported, "reason.not_supported", {"not supported by this device or driver", "此设备或驱动不支持"}},
    {kReasonNoPermission, "reason.no_permission", {"not permitted to gpusight", "gpusight 没有权限"}},
    {kReasonAsleep, "reason.asleep", {"the device sleeps and is left asleep", "设备正在休眠，不予唤醒"}},
    {kReasonBusy, "reason.busy", {"the driver has not answered yet", "驱动尚未应答"}},
    {kReasonLost, "reason.lost", {"the device is lost", "设备已丢失"}},
    {kReasonStale, "reason.stale", {"the last reading is too old", "上次读数已过期"}},
    {kReasonDriverError, "reason.driver_error", {"the driver reported an error", "驱动报告错误"}},
    {kReasonImplausible, "reason.implausible", {"the driver gave a number that cannot be", "驱动给出了不可能的数值"}},
    {kReasonWarmingUp, "reason.warming_up", {"needs two readings, the first is taken", "需要两次读数，已取第一次"}},
    {kReasonDisabled, "reason.disabled", {"switched off by the configuration or by gpusight release", "已被配置或 gpusight release 关闭"}},
    {kReasonHidden, "reason.hidden", {"not shown to this caller", "对当前访问者隐藏"}},
    {kReasonUnknown, "reason.unknown", {"not known why", "原因未知"}},

    {kSourceStarting, "source.starting", {"starting", "正在启动"}},
    {kSourceRunning, "source.running", {"{0} devices, driver {1}", "{0} 个设备，驱动 {1}"}},
    {kSourceSimulated, "source.simulated", {"SIMULATED: {0} devices, driver {1}", "模拟：{0} 个设备，驱动 {1}"}},
    {kSourceStuck, "source.stuck", {"the driver has not answered for {0} s; opening it again waits", "驱动已 {0} 秒未应答；重新打开需等待"}},
    {kSourceDegraded, "source.degraded", {"{0} of {1} devices answer; trying again in {2} s", "{1} 个设备中 {0} 个有应答；{2} 秒后重试"}},
    {kSourceReleasedForSleep, "source.released_for_sleep", {"let go of the idle devices so that they can sleep", "已释放空闲设备，使其可以休眠"}},
    {kSourceKernelFiles, "source.kernel_files", {"reading the kernel's files", "正在读取内核文件"}},
    {kSourceReleased, "source.released", {"every device is let go of until {0}; `gpusight release --end` takes them back", "所有设备已释放，直到 {0}；`gpusight release --end` 可重新接管"}},
    {kSourceUnbound, "source.unbound", {"a device is being taken from its driver: all are let go of, the others are read again soon", "有设备正与其驱动解除绑定：已释放所有设备，其余设备稍后恢复读取"}},

    {kNvmlNothingOnBus, "nvml.nothing_on_bus", {"no NVIDIA device on the PCI bus", "PCI 总线上没有 NVIDIA 设备"}},
    {kNvmlNoDriver, "nvml.no_driver", {"NVIDIA device at {0}, but no driver is loaded for it: install the NVIDIA driver or load its module", "{0} 处有 NVIDIA 设备，但未加载驱动：请安装 NVIDIA 驱动或加载其内核模块"}},
    {kNvmlOtherDriver, "nvml.other_driver", {"NVIDIA device at {0} is held by the driver {1}, which has no NVML", "{0} 处的 NVIDIA 设备由驱动 {1} 占用，该驱动不提供 NVML"}},
    {kNvmlLibraryMissing, "nvml.library_missing", {"the driver's library libnvidia-ml.so.1 is not found ({0})", "找不到驱动库 libnvidia-ml.so.1（{0}）"}},
    {kNvmlLibraryUnusable, "nvml.library_unusable", {"{0} is not a usable NVML: {1}", "{0} 不是可用的 NVML：{1}"}},
    {kNvmlLibraryUntrusted, "nvml.library_untrusted", {"{0} is refused: run as root, a library named by hand must belong to root and be writable by nobody else", "拒绝加载 {0}：以 root 运行时，手动指定的库必须属于 root 且他人不可写"}},
    {kNvmlWrongArchitecture, "nvml.wrong_architecture", {"{0} is built for another processor ({1})", "{0} 是为其他处理器（{1}）构建的"}},
    {kNvmlStubLibrary, "nvml.stub_library", {"{0} is the CUDA toolkit's stub, not the driver's library", "{0} 是 CUDA 工具包的桩库，不是驱动库"}},
    {kNvmlVersionMismatch, "nvml.version_mismatch", {"the driver was upgraded: kernel module {0}, library {1}; reboot or reload the module", "驱动已升级：内核模块 {0}，库 {1}；请重启或重新加载模块"}},
    {kNvmlNoPermission, "nvml.no_permission", {"no permission to open the NVIDIA device files: {0}", "没有权限打开 NVIDIA 设备文件：{0}"}},
    {kNvmlAccessRevoked, "nvml.access_revoked", {"access to the NVIDIA devices was taken away from this container; create it again", "此容器对 NVIDIA 设备的访问已被收回，请重新创建容器"}},
    {kNvmlAllAsleep, "nvml.all_asleep", {"all NVIDIA devices sleep and are left asleep", "所有 NVIDIA 设备都在休眠，不予唤醒"}},
    {kNvmlNoDevices, "nvml.no_devices", {"the driver is loaded but knows no device", "驱动已加载，但没有发现设备"}},
    {kNvmlInitFailed, "nvml.init_failed", {"the driver's library does not start: {0}", "驱动库无法启动：{0}"}},

    {kAmdgpuNone, "amdgpu.none", {"no GPU that the amdgpu driver holds", "没有由 amdgpu 驱动管理的 GPU"}},
    {kAmdgpuNoDriver, "amdgpu.no_driver", {"AMD GPU at {0}, but no driver holds it: load the amdgpu module", "{0} 处有 AMD GPU，但没有驱动：请加载 amdgpu 模块"}},
    {kAmdgpuOtherDriver, "amdgpu.other_driver", {"AMD GPU at {0} is held by the driver {1}, which tells nothing of it", "{0} 处的 AMD GPU 由驱动 {1} 占用，该驱动不提供读数"}},
    {kAmdgpuAllAsleep, "amdgpu.all_asleep", {"all AMD GPUs sleep and are left asleep", "所有 AMD GPU 都在休眠，不予唤醒"}},

    {kSimulatedBadge, "simulated.badge", {"SIMULATED", "模拟"}},
    {kSimulatedOffer, "simulated.offer", {"to see it simulated: gpusight sim h100-training -- gpusight {0}", "用模拟机器查看：gpusight sim h100-training -- gpusight {0}"}},
    {kSimulatedServing, "simulated.serving", {"serving the SIMULATED machine {0}: none of its devices exist", "正在提供模拟机器 {0}：其中的设备都不存在"}},
    {kSimulatedMissing, "simulated.missing", {"the simulated machine is not installed: looked for {0}", "未安装模拟机器：已查找 {0}"}},

    {kEventXid, "event.xid", {"XID {0}: {1}", "XID {0}：{1}"}},
    {kEventThrottleBegin, "event.throttle_begin", {"clocks held down: {0}", "时钟被压低：{0}"}},
    {kEventThrottleEnd, "event.throttle_end", {"clocks free again: {0}, after {1} s", "时钟恢复：{0}，持续 {1} 秒"}},
    {kEventDeviceLost, "event.device_lost", {"device lost: {0}", "设备丢失：{0}"}},
    {kEventDeviceBack, "event.device_back", {"device back after {0} s", "设备在 {0} 秒后恢复"}},
    {kEventDeviceAsleep, "event.device_asleep", {"device fell asleep", "设备进入休眠"}},
    {kEventDeviceAwake, "event.device_awake", {"device woke up", "设备被唤醒"}},
    {kEventDriverReload, "event.driver_reload", {"driver opened again: {0}", "驱动已重新打开：{0}"}},
    {kEventMigChange, "event.mig_change", {"MIG configuration changed", "MIG 配置已更改"}},
    {kEventClockJump, "event.clock_jump", {"wall clock jumped by {0} s", "系统时钟跳变 {0} 秒"}},
    {kEventProcessStart, "event.process_start", {"process {0} started on the device", "进程 {0} 开始使用设备"}},
    {kEventProcessExit, "event.process_exit", {"process {0} left the device", "进程 {0} 离开设备"}},
    {kEventDaemonStart, "event.daemon_start", {"gpusight {0} started", "gpusight {0} 已启动"}},
    {kEventDaemonStop, "event.daemon_stop", {"gpusight stopped", "gpusight 已停止"}},
    {kEventMemoryError, "event.memory_error", {"memory error: {0}", "内存错误：{0}"}},
    {kEventMemoryRetirement, "event.memory_retirement", {"memory taken out of use: {0}", "内存停用：{0}"}},
    {kEventRecoveryAction, "event.recovery_action", {"the device needs attention: {0}", "设备需要处理：{0}"}},
    {kEventPerformanceState, "event.performance_state", {"performance state changed", "性能状态已改变"}},
    {kEventClockChange, "event.clock_change", {"clocks changed", "时钟已改变"}},
    {kEventPowerSource, "event.power_source", {"power source changed", "电源已切换"}},
    {kEventNvswitchError, "event.nvswitch_error", {"NVSwitch {0}: SXid {1}: {2}", "NVSwitch {0}：SXid {1}：{2}"}},
    {kEventEventsLeftOut, "event.events_left_out", {"{0} more were left out: {1}", "另有 {0} 条未列出：{1}"}},

    {kEventDeviceReleased, "event.device_released", {"device let go of: not read for now", "设备已释放：暂不读取"}},
    {kEventDeviceTaken, "event.device_taken", {"device taken back after {0} s", "设备在 {0} 秒后重新接管"}},

    {kUsageUnknownCommand, "usage.unknown_command", {"there is no command {0}", "没有命令 {0}"}},
    {kUsageUnknownOption, "usage.unknown_option", {"there is no option {0}", "没有选项 {0}"}},
    {kUsageMissingValue, "usage.missing_value", {"the option {0} needs a value", "选项 {0} 需要一个值"}},
    {kUsageBadValue, "usage.bad_value", {"{0} cannot be {1}: {2}", "{0} 不能是 {1}：{2}"}},
    {kUsageUnknownMetric, "usage.unknown_metric", {"there is no metric {0}; `gpusight metrics` lists them", "没有指标 {0}；用 `gpusight metrics` 查看"}},
    {kUsageUnexpectedArgument, "usage.unexpected_argument", {"{0} is not expected here", "此处不应有 {0}"}},
    {kUsageMissingArgument, "usage.missing_argument", {"{0} is missing", "缺少 {0}"}},
    {kUsageNotTaken, "usage.not_taken", {"`gpusight {0}` takes no option {1}", "`gpusight {0}` 没有选项 {1}"}},
    {kUsageExclusive, "usage.exclusive", {"{0} and {1} exclude each other", "{0} 与 {1} 不能同时使用"}},
    {kUsageSeeHelp, "usage.see_help", {"`gpusight help {0}` tells what it takes", "用 `gpusight help {0}` 查看用法"}},
    {kWantBool, "want.bool", {"true or false is wanted", "应为 true 或 false"}},
    {kWantDuration, "want.duration", {"a duration with its unit is wanted, such as 500ms, 1s or 2m", "应为带单位的时长，如 500ms、1s 或 2m"}},
    {kWantDurationWithin, "want.duration_within", {"a duration from {0} to {1} is wanted", "应为 {0} 到 {1} 之间的时长"}},
    {kWantInteger, "want.integer", {"a whole number is wanted", "应为整数"}},
    {kWantIntegerWithin, "want.integer_within", {"a whole number from {0} to {1} is wanted", "应为 {0} 到 {1} 之间的整数"}},
    {kWantChoice, "want.choice", {"one of {0} is wanted", "应为 {0} 之一"}},
    {kWantAddress, "want.address", {"an address with its port is wanted, such as 127.0.0.1:9780 or [::1]:9780", "应为带端口的地址，如 127.0.0.1:9780 或 [::1]:9780"}},
    {kWantText, "want.text", {"a text is wanted", "应为文本"}},
    {kWantTable, "want.table", {"a table is wanted, written [{0}]", "应为表，写作 [{0}]"}},
    {kWantCleanText, "want.clean_text", {"text in UTF-8 without control characters is wanted", "应为不含控制字符的 UTF-8 文本"}},
    {kWantMetric, "want.metric", {"{0} is no metric, no pattern such as gpu_nvlink_* that fits one, and no group ({1})", "{0} 不是指标，不是匹配任何指标的模式（如 gpu_nvlink_*），也不是分组（{1}）"}},
    {kWantMetricNotNeeded, "want.metric_not_needed", {"{0} cannot be switched off: gpusight needs it", "{0} 不能关闭：gpusight 需要它"}},
    {kHelpAbout, "help.about", {"flight recorder for GPUs", "GPU 的飞行记录仪"}},
    {kHelpUsage, "help.usage", {"Usage", "用法"}},
    {kHelpCommands, "help.commands", {"Commands", "命令"}},
    {kHelpOptions, "help.options", {"Options", "选项"}},
    {kHelpCommonOptions, "help.common_options", {"Options of every command", "通用选项"}},
    {kHelpExamples, "help.examples", {"Examples", "示例"}},
    {kHelpDefault, "help.default", {"default {0}", "默认 {0}"}},
    {kHelpOneOf, "help.one_of", {"one of {0}", "可选 {0}"}},
    {kHelpFromTo, "help.from_to", {"{0} to {1}", "{0} 至 {1}"}},
    {kHelpSources, "help.sources", {"Flags win over the environment, that over the configuration file, that over the default.", "优先级：命令行选项 > 环境变量 > 配置文件 > 默认值。"}},
    {kHelpMore, "help.more", {"`gpusight help COMMAND` tells more.", "用 `gpusight help COMMAND` 查看详情。"}},
    {kHelpHelp, "help.help", {"Tell what the command does and takes.", "说明命令的作用与选项。"}},
    {kHelpVersion, "help.version", {"Print the version.", "输出版本号。"}},

    {kConfigUnreadable, "config.unreadable", {"cannot read {0}: {1}", "无法读取 {0}：{1}"}},
    {kConfigSyntax, "config.syntax", {"{0}, line {1}: {2}", "{0} 第 {1} 行：{2}"}},
    {kConfigUnknownKey, "config.unknown_key", {"{0}, line {1}: there is no key {2}", "{0} 第 {1} 行：没有键 {2}"}},
    {kConfigBadValue, "config.bad_value", {"{0}, line {1}: {2} cannot be {3}: {4}", "{0} 第 {1} 行：{2} 不能是 {3}：{4}"}},
    {kDidYouMean, "usage.did_you_mean", {"did you mean {0}?", "您是否想输入 {0}？"}},
    {kListenInUse, "listen.in_use", {"{0} is in use by another program; stop it or choose another address with --listen", "{0} 已被其他程序占用；请停止该程序或用 --listen 选择其他地址"}},
    {kListenFailed, "listen.failed", {"cannot listen on {0}: {1}", "无法监听 {0}：{1}"}},
    {kListenNotLoopback, "listen.not_loopback", {"{0} is not this machine's loopback: gpusight listens beyond it only with TLS and tokens, which are not configured", "{0} 不是本机回环地址：仅在配置了 TLS 和令牌时才监听其他地址，而目前没有配置"}},
    {kSocketInUse, "listen.socket_in_use", {"another gpusight answers at {0}", "另一个 gpusight 正在 {0} 应答"}},
    {kStateNotWritable, "state.not_writable", {"cannot write to {0} ({1}); going on without remembering across restarts", "无法写入 {0}（{1}）；继续运行，但重启后不保留状态"}},
    {kAlreadyRunning, "daemon.already_running", {"another gpusight uses the state directory {0}", "另一个 gpusight 正在使用状态目录 {0}"}},
    {kDaemonUnreachable, "daemon.unreachable", {"the daemon at {0} does not answer: {1}", "{0} 的守护进程没有应答：{1}"}},
    {kServeReady, "serve.ready", {"gpusight is at {0}", "gpusight 地址：{0}"}},
    {kServeSocket, "serve.socket", {"local socket {0}", "本地套接字 {0}"}},
    {kServeNoSocket, "serve.no_socket", {"{0}; going on without a local socket: other commands read the devices themselves", "{0}；继续运行，但没有本地套接字：其他命令将自行读取设备"}},
    {kServeNoPage, "serve.no_page", {"gpusight runs; this program was built without its page", "gpusight 正在运行；此程序构建时未包含网页"}},
    {kNoDevices, "view.no_devices", {"no GPU: {0}", "没有 GPU：{0}"}},
    {kNothingToShow, "view.nothing", {"nothing to show", "没有可显示的内容"}},

    {kViewSimulated, "view.simulated", {"SIMULATED: none of these devices exist", "模拟：这些设备都不存在"}},
    {kViewAbsentLine, "view.absent_line", {"– {0}, GPU {1}: {2}", "– {0}，GPU {1}：{2}"}},
    {kViewAbsentMore, "view.absent_more", {"– {0} more; `gpusight status --json` has every reason", "– 另有 {0} 项；`gpusight status --json` 列出全部原因"}},
    {kViewStaleLine, "view.stale_line", {"* the last reading, {0} old: {1}", "* 上次读数，{0} 前：{1}"}},
    {kViewSourceLine, "view.source_line", {"{0}: {1}", "{0}：{1}"}},
    {kViewSince, "view.since", {"{0} since {1}", "自 {1} 起{0}"}},
    {kViewHostPid, "view.host_pid", {"host pid {0}", "宿主 PID {0}"}},
    {kViewOneGpu, "view.one_gpu", {"1 GPU", "1 块 GPU"}},
    {kViewGpus, "view.gpus", {"{0} GPUs", "{0} 块 GPU"}},
    {kViewUpDays, "view.up_days", {"{0} d {1} h", "{0} 天 {1} 小时"}},
    {kViewUpHours, "view.up_hours", {"{0} h {1} min", "{0} 小时 {1} 分"}},
    {kViewLoad, "view.load", {"load", "负载"}},
    {kViewUp, "view.up", {"up", "已运行"}},
    {kViewDriver, "view.driver", {"driver", "驱动"}},
    {kViewOwners, "view.owners", {"Owners", "占用者"}},
    {kViewHolders, "view.holders", {"GPU {0} is kept awake by {1}", "GPU {0} 被 {1} 保持唤醒"}},
    {kViewHoldersUnseen, "view.holders_unseen", {"GPU {0}: processes of other users may keep it awake, gpusight has no permission to look", "GPU {0}：可能有其他用户的进程使其保持唤醒，gpusight 没有权限查看"}},
    {kViewClock, "view.clock", {"Clock", "时钟"}},
    {kViewFan, "view.fan", {"Fan", "风扇"}},
    {kViewMemory, "view.memory", {"memory", "内存"}},
    {kViewSwap, "view.swap", {"swap", "交换区"}},
    {kThrottlePowerCap, "throttle.sw_power_cap", {"power cap", "功率上限"}},
    {kThrottleHwSlowdown, "throttle.hw_slowdown", {"hw slowdown", "硬件降速"}},
    {kThrottleSwThermal, "throttle.sw_thermal", {"thermal", "过热降频"}},
    {kThrottleHwThermal, "throttle.hw_thermal", {"hw thermal", "硬件过热"}},
    {kThrottlePowerBrake, "throttle.hw_power_brake", {"power brake", "功率制动"}},
    {kMetricsColumnName, "metrics.name", {"Metric", "指标"}},
    {kMetricsColumnKind, "metrics.kind", {"Kind", "类型"}},
    {kMetricsColumnMeaning, "metrics.meaning", {"What it is", "含义"}},
    {kHistoryNone, "history.none", {"there is no recorded history at {0}", "{0} 处没有历史记录"}},
    {kHistoryOthers, "history.others", {"there is no {0} in {1}, but there are {2}: name one by --history-file", "{1} 中没有 {0}，但有 {2}：用 --history-file 指定"}},
    {kHistoryUnreadable, "history.unreadable", {"cannot read the recorded history: {0}", "无法读取历史记录：{0}"}},
    {kHistoryHeld, "history.held", {"a daemon records in {0}: stop it first, or import into another directory by --state-dir", "守护进程正在 {0} 中记录：请先停止它，或用 --state-dir 导入到其他目录"}},
    {kHistoryNotWritable, "history.not_writable", {"cannot write in {0}: {1}", "无法写入 {0}：{1}"}},
    {kHistorySummary, "history.summary", {"{0}: {1}, {2} series, {3} events", "{0}：{1}，{2} 个序列，{3} 个事件"}},
    {kHistoryRecording, "history.recording", {"a daemon is recording; the newest tick on disk is of {0}", "守护进程正在记录；磁盘上最新的采样为 {0}"}},
    {kHistoryNotRecording, "history.not_recording", {"nobody is recording; the newest tick on disk is of {0}", "没有进程在记录；磁盘上最新的采样为 {0}"}},
    {kHistoryRecordingUnknown, "history.recording_unknown", {"whether a daemon is recording cannot be seen with your rights; the newest tick on disk is of {0}", "以当前权限看不出守护进程是否在记录；磁盘上最新的采样为 {0}"}},
    {kHistoryEmpty, "history.empty", {"nothing is recorded yet", "尚无记录"}},
    {kHistoryColumnTier, "history.column_tier", {"Tier", "层级"}},
    {kHistoryColumnRow, "history.column_row", {"A row", "每行"}},
    {kHistoryColumnFrom, "history.column_from", {"From", "起始"}},
    {kHistoryColumnTo, "history.column_to", {"To", "截止"}},
    {kHistoryColumnChunks, "history.column_chunks", {"Chunks", "数据块"}},
    {kHistoryColumnSize, "history.column_size", {"Packed", "压缩后"}},
    {kHistoryColumnKept, "history.column_kept", {"Kept", "保留"}},
    {kHistoryEverySample, "history.every_sample", {"a sample", "一个样本"}},
    {kHistorySound, "history.sound", {"{0} chunks, {1} columns, {2} samples: all sound", "{0} 个数据块，{1} 列，{2} 个样本：全部完好"}},
    {kHistoryFaulty, "history.faulty", {"{0} chunks, {1} columns, {2} samples: {3} faults", "{0} 个数据块，{1} 列，{2} 个样本：{3} 处损坏"}},
    {kHistoryExportIncomplete, "history.export_incomplete", {"damaged parts are left out of the export: {0} (gpusight history check tells more)", "导出中略去了损坏的部分：{0}（gpusight history check 可查看详情）"}},
    {kHistoryImported, "history.imported", {"{0} samples imported", "已导入 {0} 个样本"}},
    {kHistoryLeftOut, "history.left_out", {"{0} samples left out: something of their series is recorded in their hour", "略去 {0} 个样本：其序列在相应的小时内已有记录"}},
    {kHistoryImportLine, "history.import_line", {"{0}, line {1}: {2}", "{0} 第 {1} 行：{2}"}},
    {kHistoryImportStays, "history.import_stays", {"{0} samples from before it are imported, and nothing that was recorded has changed: mend the text and import all of it again", "此前的 {0} 个样本已导入，原有记录没有改变：修正文本后可重新导入全部内容"}},
    {kQueryEmpty, "query.empty", {"the answer is empty", "结果为空"}},
    {kQueryUnanswered, "query.unanswered", {"no daemon answers, and the recorded history cannot be read: {0}", "没有守护进程应答，也无法读取历史记录：{0}"}},
    {kQueryColumnTime, "query.column_time", {"Time", "时间"}},
    {kQueryColumnValue, "query.column_value", {"Value", "数值"}},
    {kWantTime, "want.time", {"a time is wanted, such as 2026-11-30T03:12:00Z, '2026-11-30 03:12', 03:12, 1764472320, now or -1h", "应为时间，如 2026-11-30T03:12:00Z、'2026-11-30 03:12'、03:12、1764472320、now 或 -1h"}},
    {kWantSelector, "want.selector", {"a selector is wanted, such as gpu_power_watts or {uuid=\"…\"}: {0}", "应为选择器，如 gpu_power_watts 或 {uuid=\"…\"}：{0}"}},
    {kWantOrder, "want.order", {"a time before --end is wanted", "应为早于 --end 的时间"}},
    {kReleaseDone, "release.done", {"every GPU is let go of until {0}; `gpusight release --end` takes them back sooner", "所有 GPU 已释放，直到 {0}；`gpusight release --end` 可重新接管"}},
    {kReleaseNothing, "release.nothing", {"no GPU is held; none is opened until {0}", "没有占用任何 GPU；在 {0} 之前不会打开"}},
    {kReleaseHeld, "release.held", {"the GPUs are still held: {0}. They are let go of as soon as the driver answers", "GPU 仍被占用：{0}。驱动一应答即释放"}},
    {kReleaseRefused, "release.refused", {"the daemon at {0} refuses: only root and the daemon's own user may release devices", "{0} 的守护进程拒绝：只有 root 与守护进程自身的用户可以释放设备"}},
    {kReleaseOver, "release.over", {"the GPUs are read again", "GPU 已恢复读取"}},
    {kReleaseNoDaemon, "release.no_daemon", {"no daemon answers at {0}: gpusight holds nothing that it could release", "{0} 没有守护进程应答：gpusight 没有占用可释放的设备"}},
    {kWantNow, "want.now", {"for release it stands alone, or with the word now", "用于 release 时应单独使用，或写作 now"}},
    {kSimUnknownScenario, "sim.unknown_scenario", {"there is no scenario {0}; `gpusight sim --list` lists them", "没有场景 {0}；用 `gpusight sim --list` 查看"}},
    {kSimUnreadable, "sim.unreadable", {"cannot read the scenario file {0}: {1}", "无法读取场景文件 {0}：{1}"}},
    {kSimCannotRun, "sim.cannot_run", {"cannot run {0}: {1}", "无法运行 {0}：{1}"}},
    {kCannotWrite, "output.cannot_write", {"cannot write {0}: {1}", "无法写入 {0}：{1}"}},

    {kSelftestOk, "selftest.ok", {"ok", "正常"}},
    {kSelftestWarn, "selftest.warn", {"warn", "警告"}},
    {kSelftestFail, "selftest.fail", {"FAIL", "失败"}},
    {kSelftestSummary, "selftest.summary", {"{0} failed, {1} to look at, {2} ok", "{0} 项失败，{1} 项警告，{2} 项正常"}},
    {kSelftestAllWell, "selftest.all_well", {"all {0} checks ok", "全部 {0} 项检查正常"}},
    {kCheckConfig, "check.config", {"configuration", "配置"}},
    {kCheckClock, "check.clock", {"clock source", "时钟源"}},
    {kCheckPci, "check.pci", {"GPUs on the PCI bus", "PCI 总线上的 GPU"}},
    {kCheckDeviceFiles, "check.device_files", {"device files", "设备文件"}},
    {kCheckSource, "check.source", {"source {0}", "数据源 {0}"}},
    {kCheckDaemon, "check.daemon", {"daemon", "守护进程"}},
    {kCheckState, "check.state", {"state directory", "状态目录"}},
    {kCheckListen, "check.listen", {"address {0}", "地址 {0}"}},
    {kCheckPage, "check.page", {"web page", "网页"}},
    {kCheckSimulator, "check.simulator", {"simulated machine", "模拟机器"}},
    {kCheckContainer, "check.container", {"process names", "进程名称"}},
    {kCheckNumbers, "check.numbers", {"numbers", "数字格式"}},
    {kFoundConfigFile, "found.config_file", {"read from {0}", "已读取 {0}"}},
    {kFoundNoConfigFile, "found.no_config_file", {"no file: defaults, environment and flags", "没有配置文件：使用默认值、环境变量与选项"}},
    {kFoundClock, "found.clock", {"{0}", "{0}"}},
    {kFoundSlowClock, "found.slow_clock", {"{0}: every reading of the time costs a system call", "{0}：每次读取时间都需要系统调用"}},
    {kFoundNoClock, "found.no_clock", {"not told by the kernel", "内核未提供"}},
    {kFoundGpus, "found.gpus", {"{0}", "{0}"}},
    {kFoundNoGpus, "found.no_gpus", {"none", "没有"}},
    {kFoundGpuWithoutDriver, "found.gpu_without_driver", {"{0} has no driver", "{0} 没有驱动"}},
    {kFoundDeviceFiles, "found.device_files", {"{0} can be opened", "{0} 可以打开"}},
    {kFoundNoDeviceFiles, "found.no_device_files", {"the NVIDIA driver is loaded, but {0} is not there", "NVIDIA 驱动已加载，但 {0} 不存在"}},
    {kFoundDeviceFileClosed, "found.device_file_closed", {"{0} cannot be opened by this user", "当前用户无法打开 {0}"}},
    {kFoundNoNvidiaDriver, "found.no_nvidia_driver", {"the NVIDIA driver is not loaded", "未加载 NVIDIA 驱动"}},
    {kFoundDaemon, "found.daemon", {"answers at {0}", "在 {0} 应答"}},
    {kFoundNoDaemon, "found.no_daemon", {"none runs; status reads the devices itself", "未运行；status 自行读取设备"}},
    {kFoundBrokenDaemon, "found.broken_daemon", {"at {0}: {1}", "{0}：{1}"}},
    {kFoundStateWritable, "found.state_writable", {"{0} can be written", "{0} 可写"}},
    {kFoundStateNotWritable, "found.state_not_writable", {"{0} cannot be written: {1}", "{0} 不可写：{1}"}},
    {kFoundNoStateDir, "found.no_state_dir", {"this user has no place for one", "当前用户没有可用的状态目录"}},
    {kFoundPortFree, "found.port_free", {"free", "空闲"}},
    {kFoundPortOurs, "found.port_ours", {"the daemon listens there", "守护进程正在监听"}},
    {kFoundPage, "found.page", {"built in", "已内置"}},
    {kFoundNoPage, "found.no_page", {"this build has none", "此构建不含网页"}},
    {kFoundSimulator, "found.simulator", {"{0}", "{0}"}},
    {kFoundOwnNamespace, "found.own_namespace", {"this container has its own process numbers: what the driver calls a process cannot be named here", "此容器有独立的进程号：无法得知驱动所报进程的名称"}},
    {kFoundHostNamespace, "found.host_namespace", {"the driver's process numbers are ours", "驱动报告的进程号与本机一致"}},
    {kFoundNumbersSound, "found.numbers_sound", {"read and written alike in every locale", "读写不受区域设置影响"}},
    {kFoundNumbersBroken, "found.numbers_broken", {"{0} was read as another number", "{0} 被读成了其他数值"}},
    {kDoNothingOnBus, "do.nothing_on_bus", {"nothing to do on a machine without a GPU; `gpusight sim h100-training -- gpusight status` shows a simulated one", "没有 GPU 的机器无需处理；用 `gpusight sim h100-training -- gpusight status` 查看模拟机器"}},
    {kDoDriver, "do.driver", {"install the vendor's driver, or load its module", "安装厂商驱动或加载其内核模块"}},
    {kDoDeviceFiles, "do.device_files", {"run nvidia-modprobe -u -c=0 as root, or nvidia-smi once", "以 root 运行 nvidia-modprobe -u -c=0，或运行一次 nvidia-smi"}},
    {kDoPermission, "do.permission", {"add the user to the group that owns it (often video or render), or give the container the device", "将用户加入该文件的属组（通常为 video 或 render），或将设备交给容器"}},
    {kDoStartDaemon, "do.start_daemon", {"`gpusight serve` starts one: history and rates need it", "用 `gpusight serve` 启动：历史与速率需要守护进程"}},
    {kDoRestartDaemon, "do.restart_daemon", {"look at its log and start it again", "查看其日志并重新启动"}},
    {kDoStateDir, "do.state_dir", {"make it writable, or name another with --state-dir", "使其可写，或用 --state-dir 指定其他目录"}},
    {kDoPort, "do.port", {"choose another address with --listen", "用 --listen 选择其他地址"}},
    {kDoPage, "do.page", {"build with the page, or use the API", "构建时包含网页，或使用 API"}},
    {kDoSimulator, "do.simulator", {"install it with gpusight, or build the target sim", "随 gpusight 一同安装，或构建 sim 目标"}},
    {kDoHostPid, "do.host_pid", {"start the container with the host's process numbers (--pid=host, hostPID: true)", "以宿主机进程号启动容器（--pid=host、hostPID: true）"}},
    {kDoClock, "do.clock", {"let the kernel use the processor's own counter (tsc, arch_sys_counter)", "让内核使用处理器计数器（tsc、arch_sys_counter）"}},

    {kWordGpu, "word.gpu", {"GPU", "GPU"}},
    {kWordName, "word.name", {"Name", "名称"}},
    {kWordMemory, "word.memory", {"Memory", "显存"}},
    {kWordPower, "word.power", {"Power", "功率"}},
    {kWordTemperature, "word.temperature", {"Temp", "温度"}},
    {kWordUtilization, "word.utilization", {"Util", "利用率"}},
    {kWordProcesses, "word.processes", {"Processes", "进程"}},
    {kWordState, "word.state", {"State", "状态"}},
    {kWordHost, "word.host", {"Host", "主机"}},
    {kWordUser, "word.user", {"User", "用户"}},
    {kWordLostSince, "word.lost_since", {"LOST since {0}", "自 {0} 起丢失"}},
    {kWordAsleep, "word.asleep", {"asleep", "休眠"}},
    {kWordBusy, "word.busy", {"busy", "忙"}},
    {kWordReleased, "word.released", {"released", "已释放"}},
    {kWordNotAvailable, "word.not_available", {"n/a", "无"}},
};
// clang-format on

consteval bool rows_are_sound() {
  for (size_t i = 0; i < std::size(kMessages); ++i) {
    if (static_cast<size_t>(kMessages[i].id) != i || kMessages[i].key.empty()) return false;
    if (i > 0 && (kMessages[i].text.en.empty() || kMessages[i].text.zh.empty())) return false;
    for (size_t j = 0; j < i; ++j) {
      if (kMessages[i].key == kMessages[j].key) return false;
    }
  }
  return true;
}

static_assert(std::size(kMessages) == static_cast<size_t>(kCount), "one row for each MessageId");
static_assert(rows_are_sound(), "order, key or texts of a message");

}  // namespace

std::span<const MessageRow> messages() { return kMessages; }
const MessageRow& message(MessageId id) { return kMessages[static_cast<size_t>(id)]; }

const MessageRow* find_message(std::string_view key) {
  const auto row = std::ranges::find(kMessages, key, &MessageRow::key);
  return row == std::end(kMessages) ? nullptr : &*row;
}

std::string format_message(MessageId id, Lang lang, std::span<const std::string> arguments) {
  const std::string_view pattern = message(id).text.in(lang);
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const bool is_slot = pattern[i] == '{' && i + 2 < pattern.size() && pattern[i + 2] == '}';
    const size_t slot = is_slot ? static_cast<size_t>(pattern[i + 1] - '0') : arguments.size();
    if (slot < arguments.size()) {
      out += arguments[slot];
      i += 2;
    } else {
      out += pattern[i];
    }
  }
  return out;
}

}  // namespace gpusight::catalog

// The page's own words. Names of metrics, reasons, messages and events come from the catalogue.
import type { Text } from "./api/types";
import { lang } from "./state/prefs";

const WORDS = {
  title: { en: "gpusight", zh: "gpusight" },
  loading: { en: "Connecting to gpusight", zh: "正在连接 gpusight" },
  waiting_first: { en: "Waiting for the first reading", zh: "正在等待首次读数" },
  catalog_failed: {
    en: "The catalogue of metrics could not be read ({0}); trying again",
    zh: "无法读取指标目录（{0}），正在重试",
  },
  live: { en: "live", zh: "实时" },
  waiting: { en: "waiting", zh: "等待中" },
  connecting: { en: "connecting", zh: "正在连接" },
  disconnected: { en: "disconnected", zh: "连接已断开" },
  no_new_reading: { en: "no new reading for {0}", zh: "已 {0} 没有新读数" },
  disconnected_long: {
    en: "No connection to gpusight. What is shown is {0} old; trying again in {1}.",
    zh: "与 gpusight 的连接已断开。所示数据为 {0} 前；{1} 后重试。",
  },
  disconnected_now: {
    en: "No connection to gpusight. What is shown is {0} old; trying again now.",
    zh: "与 gpusight 的连接已断开。所示数据为 {0} 前；正在重试。",
  },
  too_slow: {
    en: "This browser could not keep up with the readings and was disconnected.",
    zh: "此浏览器跟不上读数，连接已被断开。",
  },
  late_long: {
    en: "gpusight has sent nothing for {0}. What is shown is old.",
    zh: "gpusight 已 {0} 没有发送数据，所示数据已过时。",
  },
  retry_now: { en: "Try now", zh: "立即重试" },
  simulated_note: {
    en: "made-up readings, none of these devices exist",
    zh: "读数均为虚构，这些设备并不存在",
  },
  language: { en: "Language", zh: "语言" },
  theme: { en: "Colours", zh: "配色" },
  theme_auto: { en: "System", zh: "跟随系统" },
  theme_light: { en: "Light", zh: "浅色" },
  theme_dark: { en: "Dark", zh: "深色" },
  smoothing: { en: "Smoothing", zh: "平滑" },
  smoothing_raw: { en: "Raw", zh: "原始" },
  smoothing_help: {
    en: "Smooths the charts on view only; the numbers stay as they were read",
    zh: "仅平滑图表显示，数值保持原样",
  },
  driver: { en: "driver", zh: "驱动" },
  gpus: { en: "GPUs", zh: "GPU" },
  gpu_summary: { en: "GPU summary", zh: "GPU 概况" },
  answering: { en: "{0} of {1} answer", zh: "{1} 个中 {0} 个有应答" },
  mean: { en: "mean", zh: "平均" },
  mean_of: { en: "mean of {0}", zh: "{0} 个的平均值" },
  sum_of: { en: "sum of {0}", zh: "{0} 个之和" },
  of: { en: "of {0}", zh: "共 {0}" },
  limit: { en: "limit {0}", zh: "上限 {0}" },
  host: { en: "Host", zh: "主机" },
  cores: { en: "{0} cores", zh: "{0} 核" },
  core: { en: "CPU core", zh: "CPU 核" },
  load: { en: "Load 1, 5, 15 min", zh: "负载 1、5、15 分钟" },
  swap: { en: "Swap", zh: "交换区" },
  memory: { en: "Memory", zh: "内存" },
  pressure_some: { en: "Time some task waited", zh: "有任务等待的时间占比" },
  disk_rates: { en: "read, written", zh: "读、写" },
  network_rates: { en: "received, sent", zh: "接收、发送" },
  show_all: { en: "Show all {0}", zh: "显示全部 {0} 项" },
  show_fewer: { en: "Show fewer", zh: "收起" },
  self: { en: "gpusight itself", zh: "gpusight 自身" },
  self_rate: { en: "{0} of a core", zh: "单核的 {0}" },
  events: { en: "Events", zh: "事件" },
  no_events: { en: "No events yet", zh: "暂无事件" },
  events_failed: { en: "Earlier events could not be read", zh: "无法读取更早的事件" },
  severity_info: { en: "information", zh: "信息" },
  severity_warning: { en: "warning", zh: "警告" },
  severity_error: { en: "error", zh: "错误" },
  details: { en: "More", zh: "更多" },
  details_less: { en: "Less", zh: "收起" },
  details_of: { en: "Details of GPU {0}", zh: "GPU {0} 详情" },
  absent_list: { en: "Not available", zh: "不可用" },
  state_active: { en: "active", zh: "运行中" },
  state_throttled: { en: "throttled: {0}", zh: "降频：{0}" },
  state_busy_since: { en: "{0} since {1}", zh: "{0}，自 {1}" },
  stale: { en: "{0} old", zh: "{0} 前" },
  stale_title: { en: "{0}: read {1} ago. {2}", zh: "{0}：{1} 前读取。{2}" },
  absent_title: { en: "{0}: {1}", zh: "{0}：{1}" },
  mig_instances: { en: "{0} MIG instances", zh: "{0} 个 MIG 实例" },
  processes: { en: "Processes", zh: "进程" },
  no_processes: { en: "no processes", zh: "没有进程" },
  n_processes: { en: "{0} processes", zh: "{0} 个进程" },
  one_process: { en: "1 process", zh: "1 个进程" },
  processes_hidden: {
    en: "{0} more belong to other users: only their totals are shown",
    zh: "另有 {0} 个属于其他用户，仅显示合计",
  },
  processes_unknown: { en: "processes not known: {0}", zh: "进程未知：{0}" },
  user_unknown: { en: "unknown user", zh: "未知用户" },
  owner_exited: { en: "exited", zh: "已退出" },
  owner_foreign: { en: "in another PID namespace", zh: "位于其他 PID 命名空间" },
  owner_pending: { en: "being looked up", zh: "正在查询" },
  pid: { en: "PID", zh: "PID" },
  name: { en: "Name", zh: "名称" },
  user: { en: "User", zh: "用户" },
  type: { en: "Type", zh: "类型" },
  device_memory: { en: "Memory", zh: "显存" },
  share: { en: "Share", zh: "占用" },
  chart_label: {
    en: "{0}, last ten minutes: now {1}, lowest {2}, highest {3}",
    zh: "{0}，最近十分钟：当前 {1}，最低 {2}，最高 {3}",
  },
  chart_nothing: { en: "{0}: no readings in the last ten minutes", zh: "{0}：最近十分钟没有读数" },
  nothing_yet: { en: "no readings in the last ten minutes", zh: "最近十分钟没有读数" },
  no_devices: { en: "No GPU here", zh: "没有 GPU" },
  facts: { en: "Identity", zh: "标识" },
  fact_serial: { en: "Serial", zh: "序列号" },
  fact_vbios: { en: "VBIOS", zh: "VBIOS" },
  fact_minor: { en: "Device file", zh: "设备文件" },
  fact_cuda: { en: "CUDA index", zh: "CUDA 序号" },
  fact_index: { en: "Index", zh: "序号" },
  fact_state: { en: "State since", zh: "状态起始" },
  last_reading: { en: "last reading", zh: "最近读数" },
  yes: { en: "on", zh: "开" },
  no: { en: "off", zh: "关" },
  version: { en: "version {0}", zh: "版本 {0}" },
  skip: { en: "Skip to the GPUs", zh: "跳到 GPU" },
} satisfies Record<string, Text>;

export type Word = keyof typeof WORDS;

// What stands behind a label's value where the catalogue has no word for it. A value that is not in
// here is shown as it came.
const LABEL_WORDS: Record<string, Text> = {
  idle: { en: "idle", zh: "空闲" },
  applications_clocks: { en: "application clocks", zh: "应用时钟设置" },
  display_clock: { en: "display clocks", zh: "显示时钟设置" },
  sync_boost: { en: "sync boost", zh: "同步加速" },
  graphics: { en: "graphics", zh: "图形" },
  memory: { en: "memory", zh: "内存" },
  video: { en: "video", zh: "视频" },
  sm: { en: "SM", zh: "SM" },
  cpu: { en: "CPU", zh: "CPU" },
  io: { en: "I/O", zh: "I/O" },
};

export function fill(pattern: string, args: readonly string[]): string {
  return pattern.replace(/\{(\d+)\}/g, (slot, index) => args[Number(index)] ?? slot);
}

export const tx = (text: Text | undefined): string => text?.[lang.value] ?? "";

export const t = (word: Word, ...args: string[]): string => fill(WORDS[word][lang.value], args);

export function labelWord(label: string): string {
  const known = Object.hasOwn(LABEL_WORDS, label) ? LABEL_WORDS[label] : undefined;
  return known === undefined ? label.replaceAll("_", " ") : known[lang.value];
}

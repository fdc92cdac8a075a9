// A made-up machine for working on the page without the program: readings as a function of time, so
// that the ten minutes before and the live ones agree. It speaks in the terms of catalog.json; what it
// does not know of there is absent with a reason, as in the program.
import { clamp, GIB, milli, noise, to, uuidOf, wave } from "./numbers.mjs";

const HOSTILE = '<img src=x onerror="document.title=1">"\'&\u202e';

export class Machine {
  constructor(catalog, options) {
    this.catalog = catalog;
    this.options = options;
    this.began = Math.floor(Date.now() / 1000) - 700;
    this.rows = { device: [], host: [], self: [] };
    for (const row of catalog.metrics) this.rows[row.scope].push(row);
    this.devices = this.makeDevices();
  }

  has(fault) {
    return this.options.faults.includes(fault);
  }

  makeDevices() {
    const { gpus, mig } = this.options;
    const devices = [];
    for (let i = 0; i < gpus; i++) {
      const uuid = uuidOf(i * 13 + 5);
      const one = {
        uuid,
        kind: "gpu",
        vendor: "nvidia",
        name: this.has("hostile")
          ? HOSTILE
          : mig > 0
            ? "NVIDIA A100-SXM4-80GB"
            : "NVIDIA H100 80GB HBM3",
        driver: "580.105.08",
        pci: `0000:${(0x19 + i * 2).toString(16).padStart(2, "0")}:00.0`,
        serial: `165${String(2300000000 + i * 7919)}`,
        vbios: "96.00.74.00.01",
        index: i,
        cuda_index: null,
        minor: i,
        parent: null,
        gpu_instance: null,
        compute_instance: null,
        profile: null,
      };
      devices.push(one);
      for (let m = 0; m < mig; m++) {
        devices.push({
          ...one,
          uuid: uuidOf(i * 100 + m * 17 + 3000, "MIG"),
          kind: "mig",
          name: "MIG 1g.10gb",
          index: null,
          minor: null,
          serial: null,
          vbios: null,
          parent: uuid,
          gpu_instance: 7 + m,
          compute_instance: 0,
          profile: "1g.10gb",
        });
      }
    }
    return devices;
  }

  // The fault that a device has at a time; faults sit on the last GPUs, the first one stays well.
  faultOf(device, t) {
    if (device.kind === "mig" || this.options.gpus < 2) return "";
    const kinds = ["lost", "asleep", "absent", "stale", "busy", "throttle"].filter((kind) =>
      this.has(kind),
    );
    const from = this.options.gpus - kinds.length;
    const fault = kinds[device.index - from] ?? "";
    const begins = { lost: 560, busy: 600, stale: 640 }[fault] ?? 0;
    if (t < this.began + begins) return "";
    return fault;
  }

  idle(device, t) {
    return (
      this.options.idle ||
      (device.index === 3 && this.options.gpus > 3 && (t - this.began) % 900 < 500)
    );
  }

  // [state, since]
  stateOf(device, t) {
    const fault = this.faultOf(device, t);
    if (fault === "lost") return ["lost", this.began + 560];
    if (fault === "asleep") return ["asleep", this.began + 10];
    if (fault === "busy") return ["busy", this.began + 600];
    return ["active", this.began];
  }

  load(device, t) {
    const i = device.index ?? 0;
    if (this.idle(device, t)) return 0;
    const step = (t + i * 0.37) % 7.4 > 6.5 ? 0.42 : 0.97;
    const epoch = (t + i * 3) % 230 > 214 ? 0.1 : 1;
    return clamp(step * epoch + (noise(i + 1, t) - 0.5) * 0.05, 0, 1);
  }

  // name → number, or label → number; what is not in here is not supported.
  deviceNumbers(device, t) {
    const i = device.index ?? 0;
    const u = this.load(device, t);
    const used = (this.idle(device, t) ? 0.6 : 63 + (i % 8) * 1.7 + 2 * wave(t, 97, i * 9)) * GIB;
    const power = 92 + u * 560 + noise(i + 9, t) * 24;
    const temperature =
      34 + (i % 8) * 0.8 + 27 * (this.idle(device, t) ? 0.08 : 0.75 + 0.2 * wave(t, 180, i * 11));
    const clock = this.idle(device, t) ? 345e6 : u > 0.8 ? 1755e6 : 1980e6;
    const capped = power > 640 || this.faultOf(device, t) === "throttle";
    const whole = { gpu_memory_total_bytes: 79.65 * GIB };
    return {
      gpu_utilization_ratio: milli(u),
      gpu_utilization_ratio_min: milli(clamp(u - 0.04 - noise(i + 2, t) * 0.5 * u, 0, 1)),
      gpu_utilization_ratio_max: milli(clamp(u + 0.03 + noise(i + 3, t) * 0.1, 0, 1)),
      gpu_memory_utilization_ratio: milli(u * 0.52),
      gpu_memory_utilization_ratio_min: milli(u * 0.3),
      gpu_memory_utilization_ratio_max: milli(clamp(u * 0.68, 0, 1)),
      gpu_memory_used_bytes: to(1048576, used),
      gpu_memory_free_bytes: to(1048576, whole.gpu_memory_total_bytes - used),
      gpu_memory_reserved_bytes: to(1048576, 0.55 * GIB),
      ...whole,
      gpu_temperature_celsius: Math.round(temperature),
      gpu_memory_temperature_celsius: Math.round(temperature + 9),
      gpu_power_watts: milli(power),
      gpu_power_watts_min: milli(power - 60 * noise(i + 4, t) - 20),
      gpu_power_watts_max: milli(power + 25 * noise(i + 5, t)),
      gpu_power_average_watts: milli(power * 0.99),
      gpu_power_instant_watts: milli(power + 18 * (noise(i + 6, t) - 0.5)),
      gpu_power_limit_watts: 700,
      gpu_energy_joules_total: milli(4.2e8 + i * 1e6 + (t - this.began) * 520),
      gpu_clock_hertz: { graphics: clock, sm: clock, memory: 2619e6, video: 1545e6 },
      gpu_clock_hertz_min: { sm: clock - 45e6 },
      gpu_clock_hertz_max: { sm: clock + 15e6 },
      gpu_clock_limit_hertz: { graphics: 1980e6, sm: 1980e6, memory: 2619e6, video: 1545e6 },
      gpu_pcie_link_generation: this.idle(device, t) ? 1 : 5,
      gpu_pcie_link_width: 16,
      gpu_pcie_link_generation_limit: 5,
      gpu_pcie_link_width_limit: 16,
      gpu_pcie_replays_total: i === 2 ? 41 : 0,
      gpu_performance_state: this.idle(device, t) ? 8 : 0,
      gpu_throttle_active: {
        sw_power_cap: capped ? 1 : 0,
        hw_thermal: 0,
        hw_power_brake: 0,
        sw_thermal: 0,
        hw_slowdown: 0,
      },
      gpu_xid_errors_total: this.faultOf(device, t) === "lost" ? 1 : 0,
      gpu_processes: this.idle(device, t) ? 0 : 1,
      gpu_mig_mode: this.options.mig > 0 ? 1 : 0,
      ...(this.options.fans
        ? { gpu_fan_speed_ratio: { 0: milli(0.3 + u * 0.4), 1: milli(0.31 + u * 0.4) } }
        : {}),
    };
  }

  migNumbers(device, t) {
    const share = (device.gpu_instance - 6) / 8;
    const used =
      9.5 * GIB * clamp(share + 0.08 * (wave(t, 60, device.gpu_instance * 5) - 0.5), 0, 1);
    return {
      gpu_memory_used_bytes: to(1048576, used),
      gpu_memory_free_bytes: to(1048576, 9.5 * GIB - used),
      gpu_memory_total_bytes: 9.5 * GIB,
      gpu_processes: 1,
    };
  }

  hostNumbers(t) {
    const cores = this.options.cores;
    const core = (c) =>
      milli(clamp(0.25 + 0.5 * noise(c + 50, t / 3) + 0.2 * wave(t, 40, c * 3), 0, 1));
    const byCore = Object.fromEntries(Array.from({ length: cores }, (_, c) => [c, core(c)]));
    const cpu = Object.values(byCore).reduce((a, b) => a + b, 0) / cores;
    const since = t - this.began;
    const flow = (base, period) =>
      Math.round(base * (since + (period / 7) * Math.sin((since * 2 * Math.PI) / period)));
    const total = 2015.5 * GIB;
    const used = total * (0.31 + 0.02 * wave(t, 200));
    return {
      host_cpu_utilization_ratio: milli(cpu),
      host_cpu_core_utilization_ratio: byCore,
      host_cpu_seconds_total: {
        user: milli(1e5 + since * cores * cpu),
        system: milli(2e4 + since),
        iowait: 120,
        idle: 9e5,
      },
      host_load1: milli(cores * cpu * 1.1),
      host_load5: milli(cores * 0.58),
      host_load15: milli(cores * 0.55),
      host_memory_total_bytes: to(4096, total),
      host_memory_available_bytes: to(4096, total - used),
      host_memory_used_bytes: to(4096, used),
      host_swap_total_bytes: 8 * GIB,
      host_swap_used_bytes: to(4096, 0.3 * GIB),
      host_pressure_waiting_seconds_total: {
        cpu: milli(900 + since * 0.031),
        memory: milli(3 + since * 0.0006),
        io: milli(400 + since * 0.082),
      },
      host_pressure_stalled_seconds_total: { cpu: 0, memory: 1.2, io: milli(200 + since * 0.044) },
      host_disk_read_bytes_total: {
        nvme0n1: flow(2.1e9, 75),
        nvme1n1: flow(1.2e9, 50),
        sda: 12_345_678,
      },
      host_disk_written_bytes_total: {
        nvme0n1: flow(3e8, 90),
        nvme1n1: flow(9e8, 33),
        sda: flow(40_000, 20),
      },
      host_disk_busy_seconds_total: {
        nvme0n1: milli(since * 0.3),
        nvme1n1: milli(since * 0.22),
        sda: milli(since * 0.01),
      },
      host_network_receive_bytes_total: {
        ib0: flow(9.5e9, 45),
        ib1: flow(9.4e9, 45),
        eno1: flow(2.2e5, 30),
        lo: flow(4e4, 30),
      },
      host_network_transmit_bytes_total: {
        ib0: flow(9.1e9, 45),
        ib1: flow(9.2e9, 45),
        eno1: flow(8e5, 30),
        lo: flow(4e4, 30),
      },
      host_temperature_celsius: {
        "coretemp Package id 0": 61,
        "coretemp Package id 1": 58,
        "nvme0 Composite": 44,
        "nvme1 Composite": 46,
      },
      host_uptime_seconds: milli(3_456_000 + since),
    };
  }

  selfNumbers(t) {
    const since = t - this.began;
    return {
      gpusight_cpu_seconds_total: milli(since * 0.0042),
      gpusight_memory_resident_bytes: 27_340_800,
      gpusight_ticks_total: Math.floor(since),
      gpusight_ticks_late_total: 0,
      gpusight_driver_calls_total: { nvml: Math.floor(since) * 21 * this.options.gpus },
      gpusight_driver_seconds_total: { nvml: milli(since * 0.0021 * this.options.gpus) },
      gpusight_samples_dropped_total: 0,
      gpusight_implausible_readings_total: { nvml: 0 },
      gpusight_driver_generations_total: { nvml: 1 },
    };
  }

  // Every row of the scope, with the reason where there is no number.
  subject(scope, numbers, reasonOf = () => "not_supported") {
    const metrics = {};
    const reasons = {};
    for (const row of this.rows[scope]) {
      const value = numbers[row.name];
      metrics[row.name] = value ?? null;
      if (value === undefined) reasons[row.name] = reasonOf(row.name);
    }
    return { metrics, reasons, stale: {} };
  }

  device(device, t) {
    const [state, since] = this.stateOf(device, t);
    const fault = this.faultOf(device, t);
    const facts = { ...device, state, state_since: since };
    if (state === "lost" || state === "asleep") {
      const numbers = { gpu_up: state === "lost" ? 0 : 1, gpu_asleep: state === "asleep" ? 1 : 0 };
      return {
        ...facts,
        ...this.subject("device", numbers, () => state),
        users: [],
        processes: null,
        processes_hidden: 0,
        processes_reason: state,
      };
    }
    const numbers = {
      gpu_up: 1,
      gpu_asleep: 0,
      ...(device.kind === "mig" ? this.migNumbers(device, t) : this.deviceNumbers(device, t)),
    };
    if (fault === "absent") {
      delete numbers.gpu_power_watts;
      delete numbers.gpu_utilization_ratio;
    }
    if (device.kind === "gpu" && this.options.mig > 0) delete numbers.gpu_utilization_ratio;
    const made = this.subject("device", numbers, (name) =>
      fault === "absent" && name === "gpu_power_watts" ? "driver_error" : "not_supported",
    );
    if (fault === "stale") {
      for (const name of ["gpu_power_watts", "gpu_temperature_celsius"]) {
        made.stale[name] = milli(2 + (t % 8));
        made.reasons[name] = "stale";
      }
    }
    if (fault === "busy") {
      for (const name of Object.keys(numbers)) {
        made.stale[name] = milli(3.1);
        made.reasons[name] = "busy";
      }
    }
    return { ...facts, ...made, ...this.owners(device, t, numbers) };
  }

  owners(device, _t, numbers) {
    const none = { users: [], processes: [], processes_hidden: 0, processes_reason: null };
    if (!numbers.gpu_processes) return none;
    const i = device.index ?? device.gpu_instance;
    const user = this.has("hostile") ? HOSTILE : ["alice", "bob", "chen", "dana"][i % 4];
    const memory = to(1048576, numbers.gpu_memory_used_bytes * 0.98);
    const users = [{ user, uid: 1000 + (i % 4), processes: 1, memory_bytes: memory }];
    const hidden = this.options.hides ? 1 : 0;
    const row = {
      pid: 41_200 + i * 11,
      start_ticks: 99,
      type: "compute",
      memory_bytes: memory,
      utilization_ratio: numbers.gpu_utilization_ratio ?? null,
      gpu_instance: device.gpu_instance,
      compute_instance: device.compute_instance,
      name: this.has("hostile") ? HOSTILE : "python3",
      user,
      uid: users[0].uid,
      owner: "known",
    };
    return {
      users,
      processes: hidden > 0 ? [] : [row],
      processes_hidden: hidden,
      processes_reason: null,
    };
  }

  sources() {
    const { gpus, simulated } = this.options;
    if (gpus === 0) {
      const text = this.catalog.messages["nvml.nothing_on_bus"];
      return [
        {
          name: "nvml",
          phase: "absent",
          simulated: false,
          message: "nvml.nothing_on_bus",
          arguments: [],
          text,
        },
        this.hostSource(),
      ];
    }
    const key = simulated ? "source.simulated" : "source.running";
    const args = [String(this.devices.length), "580.105.08"];
    const fill = (pattern) => pattern.replace(/\{(\d)\}/g, (_, n) => args[n]);
    const { en, zh } = this.catalog.messages[key];
    return [
      {
        name: "nvml",
        phase: "running",
        simulated,
        message: key,
        arguments: args,
        text: { en: fill(en), zh: fill(zh) },
      },
      this.hostSource(),
    ];
  }

  hostSource() {
    return {
      name: "host",
      phase: "running",
      simulated: false,
      message: "source.running",
      arguments: ["1", ""],
      text: { en: "running", zh: "运行中" },
    };
  }

  snapshot(t, sequence) {
    const { interval, simulated, gpus } = this.options;
    return {
      schema: 1,
      version: this.catalog.version,
      sequence,
      time: t,
      interval_seconds: interval,
      simulated: simulated && gpus > 0,
      sources: this.sources(),
      host: { name: "trainer-07", ...this.subject("host", this.hostNumbers(t)) },
      self: this.subject("self", this.selfNumbers(t), () => "warming_up"),
      devices: this.devices.map((device) => this.device(device, t)),
    };
  }

  // The last ten minutes before `until`, fast and slow in time columns of their own.
  head(until) {
    const { interval, gap } = this.options;
    const times = [];
    for (let t = until - 600; t <= until + 1e-6; t += interval) {
      if (!gap || t < until - 260 || t > until - 190) times.push(milli(t));
    }
    const shots = times.map((t) => this.snapshot(t, 0));
    const subjects = ["host", "self", ...this.devices.map((device) => device.uuid)];
    return { groups: subjects.flatMap((subject) => this.headOf(subject, times, shots)) };
  }

  headOf(subject, times, shots) {
    const at = this.devices.findIndex((device) => device.uuid === subject);
    const scope = at >= 0 ? "device" : subject;
    const groups = [];
    for (const cadence of ["fast", "slow"]) {
      const every = cadence === "fast" ? 1 : Math.ceil(10 / this.options.interval);
      const picked = shots.map((shot, i) => [shot, i]).filter(([, i]) => i % every === 0);
      const series = this.rows[scope]
        .filter((row) => row.cadence === cadence)
        .flatMap((row) =>
          this.seriesOf(
            row,
            picked.map(([shot]) => (at >= 0 ? shot.devices[at] : shot[scope])),
          ),
        );
      if (series.length > 0)
        groups.push({
          subject,
          times_ms: picked.map(([, i]) => Math.round(times[i] * 1000)),
          series,
        });
    }
    return groups;
  }

  seriesOf(row, subjects) {
    const fresh = (subject) =>
      subject.stale[row.name] === undefined ? subject.metrics[row.name] : null;
    const labels = new Set(
      row.label === "" ? [""] : subjects.flatMap((subject) => Object.keys(fresh(subject) ?? {})),
    );
    return [...labels]
      .map((label) => ({
        metric: row.name,
        label,
        values: subjects.map((subject) =>
          label === "" ? fresh(subject) : (fresh(subject)?.[label] ?? null),
        ),
      }))
      .filter((series) => series.values.some((value) => value !== null));
  }

  events() {
    const t = this.began;
    const event = (id, time, kind, uuid, args) => {
      const row = this.catalog.event_kinds.find((one) => one.key === kind);
      const { en, zh } = this.catalog.messages[`event.${kind}`];
      const fill = (pattern) => pattern.replace(/\{(\d)\}/g, (_, n) => args[n] ?? "");
      return {
        id,
        time,
        kind,
        severity: row.severity,
        uuid,
        code: Number(args[0]) || 0,
        fields: {},
        message: { en: fill(en), zh: fill(zh) },
      };
    };
    const gpus = this.devices.filter((device) => device.kind === "gpu");
    const events = [event(1, t, "daemon_start", null, [this.catalog.version])];
    gpus.slice(0, 6).forEach((device, i) => {
      events.push(
        event(10 + i, t + 20 + i * 3, "process_start", device.uuid, [String(41_200 + i * 11)]),
      );
      events.push(event(30 + i, t + 200 + i * 41, "throttle_begin", device.uuid, ["sw_power_cap"]));
      events.push(
        event(50 + i, t + 214 + i * 41, "throttle_end", device.uuid, ["sw_power_cap", "14"]),
      );
    });
    const lost = gpus.find((device) => this.faultOf(device, t + 700) === "lost");
    if (lost !== undefined) {
      events.push(event(70, t + 559, "xid", lost.uuid, ["79", "gpu has fallen off the bus"]));
      events.push(event(71, t + 560, "device_lost", lost.uuid, [lost.pci]));
    }
    return events.sort((a, b) => b.time - a.time);
  }
}

#include "model/snapshot_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gpusight::model {
namespace {

using catalog::MetricId;
using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

const Caller kAdmin{.identity = LocalUser{0}, .role = Role::kAdmin};
const Caller kStranger{.identity = Anonymous{}, .role = Role::kView};
const Caller kAlice{.identity = LocalUser{1000}, .role = Role::kOwn};

constexpr MonoTime kNow{seconds(5000)};
Value fresh(double number) { return Value::fresh(number, kNow, {}, 1); }

Process process(int64_t pid, std::string command, std::string user, uint32_t uid, Value memory) {
  Process p;
  p.pid = pid;
  p.start_ticks = 77;
  p.memory_bytes = memory;
  p.owner = {.state = OwnerState::kKnown,
             .command = std::move(command),
             .uid = uid,
             .user = std::move(user)};
  return p;
}

Snapshot example() {
  Snapshot s;
  s.sequence = 123;
  s.wall = WallTime(milliseconds(1767225600123));
  s.mono = kNow;
  s.interval = seconds(1);
  s.host_name = "box";
  s.simulated = true;
  s.sources = {{.name = "nvml",
                .phase = SourcePhase::kRunning,
                .message = catalog::MessageId::kSourceSimulated,
                .arguments = {"1", "580.105.08"},
                .simulated = true}};
  s.host = {{MetricId::kHostLoad1, "", fresh(0.25)}};
  s.self = {{MetricId::kSelfTicks, "", fresh(123)}};
  DeviceSnapshot d;
  d.device = std::make_shared<const Device>(
      Device{.uuid = "GPU-1",
             .vendor = "nvidia",
             .name = "NVIDIA H100",
             .driver = "580.105.08",
             .pci = "0000:19:00.0",
             .index = 0,
             .facts = {{"board_part", "692-2G520"}, {"memory_kind", "dedicated"}}});
  d.state_since = WallTime(seconds(1767225000));
  d.samples = {
      {MetricId::kGpuPower, "", fresh(612.123)},
      {MetricId::kGpuEnergy, "",
       Value::fresh(8e6, kNow - milliseconds(3200), {}, 1).stale(Reason::kBusy)},
      {MetricId::kGpuClock, "graphics", fresh(1.98e9)},
      {MetricId::kGpuClock, "video", Value::absent(Reason::kDriverError)},
      {MetricId::kGpuFanSpeed, "", Value::absent(Reason::kNotSupported)},
  };
  d.processes_known = true;
  d.processes = {process(1, "python3", "alice", 1000, fresh(100)),
                 process(2, "train", "bob", 1001, fresh(50)),
                 process(3, "serve", "bob", 1001, Value::absent(Reason::kNoPermission))};
  d.sessions = {{.kind = SessionKind::kEncode,
                 .pid = 1,
                 .codec = VideoCodec::kHevc,
                 .width = 1920,
                 .height = 1080,
                 .frames_per_second = 60,
                 .latency_seconds = 0.0015}};
  s.devices = {d};
  s.topology = std::make_shared<const Topology>(
      Topology{.paths = {{"GPU-1", "nic:mlx5_0", PathKind::kOneSwitch, 0}},
               .places = {{"GPU-1", 1, "0-31"}}});
  return s;
}

json document(const Snapshot& s, const Caller& caller) {
  return json::parse(snapshot_json(s, caller, "0.1.0"));
}

TEST(SnapshotJson, HoldsTypedNumbersAndReasonsInTheCataloguesOrder) {
  const std::string text = snapshot_json(example(), kAdmin, "0.1.0");
  const json d = json::parse(text)["devices"][0];
  EXPECT_EQ(d["metrics"]["gpu_power_watts"], 612.123);
  EXPECT_EQ(d["metrics"]["gpu_clock_hertz"]["graphics"], 1980000000);
  EXPECT_TRUE(d["metrics"]["gpu_clock_hertz"]["video"].is_null());
  EXPECT_EQ(d["reasons"]["gpu_clock_hertz{video}"], "driver_error");
  EXPECT_EQ(d["reasons"]["gpu_fan_speed_ratio"], "not_supported");
  EXPECT_EQ(d["stale"]["gpu_energy_joules_total"], 3.2);
  EXPECT_EQ(d["metrics"]["gpu_energy_joules_total"], 8e6);
  EXPECT_EQ(d["reasons"]["gpu_energy_joules_total"], "busy");
  size_t of_devices = 0;
  for (const auto& row : catalog::metrics()) of_devices += row.scope == catalog::Scope::kDevice;
  EXPECT_EQ(d["metrics"].size(), of_devices);
  EXPECT_LT(text.find("\"gpu_up\""), text.find("\"gpu_power_watts\""));
}

// FAULT-006
TEST(SnapshotJson, MemoryThatIsNotKnownIsNullAndMakesItsUsersTotalNull) {
  const json d = document(example(), kAdmin)["devices"][0];
  EXPECT_TRUE(d["processes"][2]["memory_bytes"].is_null());
  ASSERT_EQ(d["users"].size(), 2u);
  EXPECT_EQ(d["users"][0]["memory_bytes"], 100);
  EXPECT_EQ(d["users"][1]["user"], "bob");
  EXPECT_TRUE(d["users"][1]["memory_bytes"].is_null());
}

// FAULT-135
TEST(SnapshotJson, OthersProcessesAreTotalsOnly) {
  const std::string anonymous = snapshot_json(example(), kStranger, "0.1.0");
  EXPECT_EQ(anonymous.find("python3"), std::string::npos);
  EXPECT_EQ(json::parse(anonymous)["devices"][0]["processes_hidden"], 3);
  const json own = document(example(), kAlice)["devices"][0];
  ASSERT_EQ(own["processes"].size(), 1u);
  EXPECT_EQ(own["processes"][0]["name"], "python3");
  EXPECT_EQ(own["processes_hidden"], 2);
  EXPECT_EQ(own["users"].size(), 2u);
}

TEST(SnapshotJson, AListOfProcessesThatIsNotKnownIsNullWithAReason) {
  Snapshot s = example();
  s.devices[0].processes_known = false;
  s.devices[0].processes.clear();
  s.devices[0].processes_reason = Reason::kNoPermission;
  const json d = document(s, kAdmin)["devices"][0];
  EXPECT_TRUE(d["processes"].is_null());
  EXPECT_EQ(d["processes_reason"], "no_permission");
}

// FAULT-130
TEST(SnapshotJson, HostileNamesStayText) {
  Snapshot s = example();
  s.host_name = "<img src=x onerror=alert(1)>\"\\\n";
  s.devices[0].processes[0].owner.command = "a\"b\x01\xff";
  const json d = document(s, kAdmin);
  EXPECT_EQ(d["host"]["name"], s.host_name);
  EXPECT_EQ(d["devices"][0]["processes"][0]["name"], "a\"b\xEF\xBF\xBD");
}

TEST(SnapshotJson, ReadsBackToTheSameDocumentForEveryCaller) {
  for (const Caller& caller : {kAdmin, kAlice, kStranger}) {
    const std::string once = snapshot_json(example(), caller, "0.1.0");
    const auto parsed = parse_snapshot_json(once);
    ASSERT_TRUE(parsed.ok()) << parsed.status().message();
    EXPECT_EQ(snapshot_json(*parsed, kAdmin, "0.1.0"), once);
  }
}

TEST(SnapshotJson, HostileDocumentsAreErrorsThatNameThePlace) {
  const auto message = [](const std::string& text) {
    const auto parsed = parse_snapshot_json(text);
    return parsed.ok() ? std::string("accepted") : parsed.status().message();
  };
  const auto edited = [](const std::string& pointer, const json& value) {
    json d = document(example(), kAdmin);
    d[json::json_pointer(pointer)] = value;
    return d.dump();
  };
  EXPECT_EQ(message(""), "the snapshot document is not JSON");
  EXPECT_EQ(message("[]"), "not a snapshot document: the document is not an object");
  EXPECT_EQ(message(std::string(100000, '[')), "the snapshot document is not JSON");
  EXPECT_EQ(message("{\"schema\":1,\"sequence\":1,\"time\":1}"),
            "not a snapshot document: devices is not there");
  EXPECT_EQ(message(edited("/schema", 2)),
            "the snapshot document has schema 2, this program knows 1");
  EXPECT_EQ(message(edited("/devices/0", 5)),
            "not a snapshot document: devices[0] is not an object");
  EXPECT_EQ(message(edited("/devices/0/metrics/gpu_power_watts", "612")),
            "not a snapshot document: devices[0].metrics.gpu_power_watts is not a number or null");
  EXPECT_EQ(message(edited("/devices/0/minor", -1)),
            "not a snapshot document: devices[0].minor is not a number from 0 to 4294967295");
  EXPECT_EQ(message(edited("/devices/0/index", 0.5)),
            "not a snapshot document: devices[0].index is not a whole number");
  EXPECT_EQ(message(edited("/time", 1e30)),
            "not a snapshot document: time is not a number from 0 to 9000000000");
  EXPECT_EQ(message(edited("/sources/0/arguments", json::array({1}))),
            "not a snapshot document: sources[0].arguments is not a list of texts");
  EXPECT_EQ(message(edited("/devices/0/state", "melted")),
            "not a snapshot document: devices[0].state is not a value that this program knows");
  EXPECT_EQ(message(edited("/something_new", 1)), "accepted");
  EXPECT_EQ(message(edited("/devices/0/metrics/gpu_new_watts", "x")), "accepted");
}

TEST(SnapshotJson, CutAnywhereItIsAnError) {
  const std::string text = snapshot_json(example(), kAdmin, "0.1.0");
  for (size_t n = 0; n < text.size(); n += 7) {
    EXPECT_FALSE(parse_snapshot_json(text.substr(0, n)).ok()) << n;
  }
}

TEST(SnapshotDelta, HoldsOnlyWhatChanged) {
  const Snapshot before = example();
  Snapshot now = before;
  now.sequence = 124;
  now.devices[0].samples[0].value = fresh(600);
  const json d = json::parse(snapshot_delta_json(before, now, kAdmin, 7));
  EXPECT_EQ(d["type"], "delta");
  EXPECT_EQ(d["n"], 7);
  EXPECT_EQ(d["sequence"], 124);
  EXPECT_EQ(d["devices"]["GPU-1"], json::parse(R"({"metrics":{"gpu_power_watts":600}})"));
  EXPECT_EQ(d["host"], json::parse(R"({"metrics":{}})"));
  EXPECT_FALSE(d.contains("sources"));
}

TEST(SnapshotDelta, LeavesOutADeviceWithoutChanges) {
  const Snapshot before = example();
  EXPECT_EQ(json::parse(snapshot_delta_json(before, before, kAdmin, 1))["devices"], json::object());
}

TEST(SnapshotDelta, SendsALabelledMetricWholeAndTakesBackReasons) {
  const Snapshot before = example();
  Snapshot now = before;
  now.devices[0].samples[1].value = fresh(9e6);    // was stale
  now.devices[0].samples[3].value = fresh(1.5e9);  // was absent
  now.devices[0].samples[4].value = Value::absent(Reason::kLost);
  now.devices[0].state = DeviceState::kBusy;
  const json p = json::parse(snapshot_delta_json(before, now, kAdmin, 1))["devices"]["GPU-1"];
  EXPECT_EQ(p["metrics"]["gpu_clock_hertz"],
            json::parse(R"({"graphics":1980000000,"video":1500000000})"));
  EXPECT_EQ(p["reasons"], json::parse(R"({"gpu_energy_joules_total":null,
            "gpu_clock_hertz{video}":null,"gpu_fan_speed_ratio":"lost"})"));
  EXPECT_EQ(p["stale"], json::parse(R"({"gpu_energy_joules_total":null})"));
  EXPECT_EQ(p["state"], "busy");
  EXPECT_FALSE(p.contains("processes"));
}

// FAULT-135
TEST(SnapshotDelta, TellsAStrangerOnlyThatTotalsChanged) {
  const Snapshot before = example();
  Snapshot now = before;
  now.devices[0].processes.pop_back();
  const json p = json::parse(snapshot_delta_json(before, now, kStranger, 1))["devices"]["GPU-1"];
  EXPECT_EQ(p["processes"], json::array());
  EXPECT_EQ(p["processes_hidden"], 2);
  EXPECT_EQ(p["users"].size(), 2u);
}

TEST(SnapshotDelta, DoesNotApplyWhenTheDevicesChanged) {
  const Snapshot before = example();
  Snapshot now = before;
  EXPECT_TRUE(delta_applies(before, now));
  now.devices.clear();
  EXPECT_FALSE(delta_applies(before, now));
}

Event process_event(const std::string& uid) {
  return {.id = 4,
          .wall = WallTime(milliseconds(1767225600500)),
          .kind = catalog::EventKind::kProcessStart,
          .uuid = "GPU-1",
          .code = 4711,
          .fields = {{"pid", "4711"}, {"uid", uid}, {"slot", "x"}},
          .arguments = {"4711"}};
}

std::string event_json(const Event& event, const Caller& caller) {
  std::string out;
  JsonWriter w(out);
  append_event_json(w, event, caller);
  return out;
}

TEST(EventJson, HasItsKindSeverityFieldsAndMessage) {
  const json e = json::parse(event_json(process_event("1000"), kAdmin));
  EXPECT_EQ(e["kind"], "process_start");
  EXPECT_EQ(e["time"], 1767225600.5);
  EXPECT_EQ(e["fields"]["pid"], "4711");
  EXPECT_EQ(e["message"]["en"], "process 4711 started on the device");
}

// FAULT-135
TEST(EventJson, AboutProcessesIsForTheirOwnersAndAdmins) {
  EXPECT_TRUE(may_see(kAlice, process_event("1000")));
  EXPECT_FALSE(may_see(kAlice, process_event("1001")));
  EXPECT_FALSE(may_see(kStranger, process_event("1000")));
  EXPECT_TRUE(may_see(kAdmin, process_event("1001")));
  Event xid = process_event("1001");
  xid.kind = catalog::EventKind::kXid;
  EXPECT_TRUE(may_see(kStranger, xid));
  EXPECT_EQ(json::parse(event_json(xid, kStranger))["fields"], json::parse(R"({"slot":"x"})"));
}

TEST(CatalogJson, HasEveryRowInBothLanguages) {
  const json c = json::parse(catalog_json("0.1.0"));
  EXPECT_EQ(c["metrics"].size(), catalog::metrics().size());
  EXPECT_EQ(c["metrics"][0]["name"], "gpu_up");
  EXPECT_FALSE(c["metrics"][0]["help"]["zh"].get<std::string>().empty());
  EXPECT_EQ(c["reasons"].size(), kReasonCount);
  EXPECT_EQ(c["messages"]["word.gpu"]["en"], "GPU");
  EXPECT_EQ(c["event_kinds"].size(), catalog::event_kinds().size());
}

TEST(SnapshotJson, SessionsNameTheirProcessToThoseWhoMaySeeIt) {
  const json all = json::parse(snapshot_json(example(), kAdmin, "0.1.0"));
  EXPECT_EQ(all["devices"][0]["sessions"][0]["pid"], 1);
  EXPECT_EQ(all["devices"][0]["sessions"][0]["codec"], "hevc");
  const json few = json::parse(snapshot_json(example(), kStranger, "0.1.0"));
  EXPECT_TRUE(few["devices"][0]["sessions"][0]["pid"].is_null());
  EXPECT_EQ(few["devices"][0]["sessions"][0]["height"], 1080);
  EXPECT_EQ(parse_snapshot_json(all.dump())->devices[0].sessions, example().devices[0].sessions);
}

TEST(SnapshotJson, TellsWhatADeviceIsAndHowDevicesHangTogether) {
  const json document = json::parse(snapshot_json(example(), kAdmin, "0.1.0"));
  EXPECT_EQ(document["devices"][0]["facts"]["board_part"], "692-2G520");
  const json& path = document["topology"]["paths"][0];
  EXPECT_EQ(path["to"], "nic:mlx5_0");
  EXPECT_EQ(path["kind"], "one_switch");
  EXPECT_EQ(document["topology"]["places"][0]["cpu_list"], "0-31");
  const auto parsed = parse_snapshot_json(document.dump());
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_EQ(parsed->devices[0].device->facts, example().devices[0].device->facts);
  EXPECT_EQ(parsed->topology->paths, example().topology->paths);
  EXPECT_EQ(parsed->topology->places, example().topology->places);
}

}  // namespace
}  // namespace gpusight::model

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/display_width.h"
#include "base/text.h"
#include "cli/golden.h"
#include "cli/test_machine.h"
#include "cli/test_snapshots.h"
#include "cli/who_table.h"
#include "model/unexplained.h"

namespace gpusight::cli {
namespace {

using catalog::Lang;
using testing::HasSubstr;
using testing::Not;

// Processes of every kind: of a pod, a job, a container and a unit; one that tells of itself, one
// that has ended, one of another PID namespace; and memory that no process explains.
model::Snapshot owned() {
  model::DeviceSnapshot first =
      test::gpu(0, "NVIDIA H100 80GB HBM3", {.utilization = 0.9, .used_gib = 62});
  model::Process pod = test::process(4711, "ada", 1000, "python3", test::fresh(40 * test::kGiB));
  pod.utilization_ratio = test::fresh(0.7);
  pod.owner.pod = "train-0";
  pod.owner.pod_namespace = "ml";
  pod.owner.container = "worker";
  pod.owner.start_unix_ms = 1767225600000 - 3600'000;
  pod.host = {.arguments = "python3 train.py --token=***", .cpu_ratio = 2.5};
  pod.framework = model::FrameworkUse{.framework = "pytorch",
                                      .allocated_bytes = 6 * test::kGiB,
                                      .reserved_bytes = 20 * test::kGiB,
                                      .step_seconds = 0.25,
                                      .data_wait_ratio = 0.4};
  model::Process job = test::process(4800, "bob", 1001, "hpl", test::fresh(20 * test::kGiB));
  job.utilization_ratio = test::fresh(0.1);
  job.owner.job = "1234.0";
  first.processes = {job, pod};
  first.processes_known = true;
  model::DeviceSnapshot second = test::gpu(1, "NVIDIA H100 80GB HBM3", {.used_gib = 4});
  model::Process container = test::process(50, "", 0, "ollama", test::fresh(3 * test::kGiB));
  container.owner.container = "ollama";
  container.owner.runtime = "docker";
  model::Process unit =
      test::process(51, "eve", 1002, "Xorg", model::Value::absent(model::Reason::kNoPermission));
  unit.owner.unit = "display-manager.service";
  unit.host.is_zombie = true;
  model::Process foreign = test::process(90, "", 0, "", test::fresh(0));
  foreign.owner = {.state = model::OwnerState::kForeign};
  second.processes = {container, unit, foreign};
  second.processes_known = true;
  model::DeviceSnapshot third = test::gpu(2, "NVIDIA H100 80GB HBM3", {});
  third.processes.clear();
  third.processes_known = true;
  return test::machine("box", {first, second, third});
}

struct Case {
  const char* name;
  model::Snapshot (*snapshot)();
  size_t width;
  Lang lang = Lang::kEnglish;
};

constexpr Case kCases[] = {
    {"who_140.txt", &owned, 140},
    {"who_80.txt", &owned, 80},
    {"who_zh_100.txt", &owned, 100, Lang::kChinese},
    {"who_mig_100.txt", &test::with_instances, 100},
    {"who_troubled_100.txt", &test::troubled, 100},
    {"who_hidden_100.txt", &test::others_hidden, 100},
    {"who_hostile_80.txt", &test::hostile, 80},
};

class WhoGolden : public testing::TestWithParam<Case> {};

TEST_P(WhoGolden, LooksAsWhenItWasLastLookedAt) {
  const Case& c = GetParam();
  const std::string text =
      who_text(c.snapshot(), {.lang = c.lang, .width = c.width, .zone = TimeZone::kUtc});
  for (const std::string_view line : split(text, '\n')) {
    EXPECT_LE(display_width(line), c.width) << line;
    EXPECT_EQ(line.find('\x1b'), std::string_view::npos) << line;
  }
  test::expect_golden(c.name, text);
}

INSTANTIATE_TEST_SUITE_P(Views, WhoGolden, testing::ValuesIn(kCases));

TEST(Place, TheMostTellingOneIsShown) {
  model::Owner owner;
  EXPECT_EQ(place_text(owner), "");
  owner.unit = "a.service";
  EXPECT_EQ(place_text(owner), "a.service");
  owner.container = "web";
  EXPECT_EQ(place_text(owner), "container web");
  owner.runtime = "podman";
  EXPECT_EQ(place_text(owner), "podman web");
  owner.pod = "0123";
  EXPECT_EQ(place_text(owner), "pod 0123");
  owner.pod_namespace = "ml";
  EXPECT_EQ(place_text(owner), "pod ml/0123");
  owner.job = "7";
  EXPECT_EQ(place_text(owner), "job 7");
}

TEST(Unexplained, IsWhatIsUsedLessAllProcessesOrNothing) {
  model::Snapshot snapshot = owned();
  model::DeviceSnapshot& device = snapshot.devices[0];
  EXPECT_DOUBLE_EQ(*model::unexplained_memory_bytes(device), 2 * test::kGiB);
  EXPECT_NEAR(*model::unattributed_ratio(device), 0.1, 1e-9);
  device.hidden_users = {{.user = "x", .processes = 1, .memory_bytes = test::kGiB}};
  EXPECT_DOUBLE_EQ(*model::unexplained_memory_bytes(device), test::kGiB);
  EXPECT_EQ(model::unattributed_ratio(device), std::nullopt) << "shares of others are not told";
  device.hidden_users[0].memory_bytes.reset();
  EXPECT_EQ(model::unexplained_memory_bytes(device), std::nullopt);
  device.hidden_users.clear();
  device.processes[0].memory_bytes = test::fresh(70 * test::kGiB);
  EXPECT_EQ(model::unexplained_memory_bytes(device), std::nullopt) << "never below nothing";
  EXPECT_EQ(model::unexplained_memory_bytes(snapshot.devices[1]), std::nullopt)
      << "one that is not known";
  EXPECT_EQ(model::unattributed_ratio(snapshot.devices[1]), std::nullopt);
  snapshot.devices[2].processes_known = false;
  EXPECT_EQ(model::unexplained_memory_bytes(snapshot.devices[2]), std::nullopt);
}

class WhoCommand : public test::CommandTest {
 protected:
  void SetUp() override { daemon_.serve(machine_.paths.socket, owned()); }
};

TEST_F(WhoCommand, AsksTheDaemonAndNamesEveryPlace) {
  io_.width = 140;
  ASSERT_EQ(run({"who"}), kExitOk) << err_;
  for (const char* text :
       {"pod ml/train-0", "job 1234.0", "docker ollama", "python3 train.py --token=***",
        "pytorch: 20.0 GiB reserved, 6.0 GiB allocated"}) {
    EXPECT_THAT(out_, HasSubstr(text));
  }
}

TEST_F(WhoCommand, OneGpuIsNamedByNumberUuidOrAddress) {
  const model::Snapshot snapshot = owned();
  const model::Device& second = *snapshot.devices[1].device;
  for (const std::string& word : {std::string("1"), second.uuid, second.pci}) {
    ASSERT_EQ(run({"who", word}), kExitOk) << word << err_;
    EXPECT_THAT(out_, HasSubstr("ollama")) << word;
    EXPECT_THAT(out_, Not(HasSubstr("4711"))) << word;
  }
  EXPECT_EQ(run({"who", "7\x1b[2J"}), kExitUsage);
  EXPECT_EQ(err_, "gpusight: there is no GPU 7[2J; there are: 0–2\n");
}

TEST_F(WhoCommand, JsonIsTheOwnersOfEachDevice) {
  ASSERT_EQ(run({"who", "0", "--json"}), kExitOk);
  const auto document = nlohmann::json::parse(out_);
  ASSERT_EQ(document["devices"].size(), 1u);
  const auto& device = document["devices"][0];
  EXPECT_EQ(device["unexplained_memory_bytes"], 2 * test::kGiB);
  EXPECT_FALSE(device.contains("metrics"));
  const auto& process = device["processes"][1];
  EXPECT_EQ(process["pod"], "train-0");
  EXPECT_EQ(process["pod_namespace"], "ml");
  EXPECT_EQ(process["arguments"], "python3 train.py --token=***");
  EXPECT_EQ(process["started"], 1767222000);
  EXPECT_EQ(process["framework"]["reserved_bytes"], 20 * test::kGiB);
}

TEST_F(WhoCommand, WithoutAGpuItSaysWhy) {
  daemon_.serve(machine_.paths.socket, test::no_gpu());
  EXPECT_EQ(run({"who"}), kExitEnvironment);
  EXPECT_EQ(out_, "");
  EXPECT_THAT(err_, HasSubstr("gpusight: "));
}

}  // namespace
}  // namespace gpusight::cli

// The contract of collect/source.h, held against every source of the registry: it sets only what it
// declares, in bounds, gives a reason for the rest, and survives whatever its files and calls do.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <set>

#include "collect/contract_trees.h"
#include "collect/source.h"

namespace gpusight::collect {
namespace {

namespace fs = std::filesystem;
using catalog::MetricId;
using catalog::MetricRow;
using catalog::Scope;

// What one file answers instead of its content.
using Damage = std::function<Result<std::string>(const std::string& content)>;

const std::map<std::string, Damage>& damages() {
  static const std::map<std::string, Damage> kDamages = {
      {"gone", [](auto&) { return Status(Code::kNotFound, "gone"); }},
      {"forbidden", [](auto&) { return Status(Code::kPermissionDenied, "forbidden"); }},
      {"broken", [](auto&) { return Status(Code::kIo, "Input/output error"); }},
      {"empty", [](auto&) { return std::string(); }},
      {"garbage",
       [](auto&) { return std::string("\xff\xfe -1 %n 99999999999999999999 \x1b[2J\n"); }},
      {"truncated", [](auto& content) { return content.substr(0, content.size() / 2); }},
      {"doubled", [](auto& content) { return content + content; }},
  };
  return kDamages;
}

// A source, and the machine that it is tried on.
struct Case {
  SourceRow row;
  std::string tree;  // its name
  std::string root;
};

// One opened source of the registry on a folder of files and, for NVML, the simulated library.
class Fixture {
 public:
  explicit Fixture(const Case& tried) : tree_(tried.root) {
    const SourceRow& row = tried.row;
    options_.clock = &clock_;
    options_.root = tree_;
    options_.nvml_path = GPUSIGHT_SIM_LIBRARY;
    options_.number = 1;
    options_.root.intercept_for_testing([this](std::string_view path) { return answer(path); });
    source_ = row.create(options_);
    opened_ = source_->open();
  }

  Source& source() { return *source_; }
  const Opened& opened() const { return opened_; }
  std::set<std::string> files_read() {
    std::lock_guard lock(mutex_);
    return files_read_;
  }
  void damage(std::string path, Damage damage) {
    std::lock_guard lock(mutex_);
    damaged_ = std::move(path);
    damage_ = std::move(damage);
  }
  void reopen() {
    opened_.generation.reset();
    opened_ = source_->open();
  }

  // Polls every lane once and returns what was set, by subject. Checks each report on the way.
  std::map<std::string, std::set<MetricId>> poll_all() {
    std::map<std::string, std::set<MetricId>> told;
    if (!opened_.generation) return told;
    for (const auto& lane : opened_.generation->lanes()) {
      if (lane->info().cadence == LaneCadence::kEvents)
        continue;  // it waits for something to happen
      Report report(clock_, options_.number);
      lane->poll(report);
      for (const Report::Subject& subject : report.subjects()) {
        check_subject(*lane, subject);
        for (const model::Sample& sample : subject.samples) {
          told[subject.uuid].insert(sample.metric);
        }
      }
    }
    return told;
  }

 private:
  std::optional<Result<std::string>> answer(std::string_view path) {
    std::lock_guard lock(mutex_);
    files_read_.emplace(path);
    if (!damage_ || path != damaged_) return std::nullopt;
    const Result<std::string> content = tree_.read(path);
    return damage_(content.ok() ? *content : std::string());
  }

  void check_subject(const Lane& lane, const Report::Subject& subject) {
    const std::string& name = lane.info().name;
    EXPECT_NE(std::ranges::count(lane.info().uuids, subject.uuid), 0)
        << name << " speaks of " << subject.uuid;
    const auto declares = source_->declares();
    for (const model::Sample& sample : subject.samples) {
      const MetricRow& row = catalog::metric(sample.metric);
      EXPECT_NE(std::ranges::count(declares, row.id), 0) << name << " sets " << row.name;
      EXPECT_EQ(row.scope, subject.uuid == kHost ? Scope::kHost : Scope::kDevice) << row.name;
      if (row.label.empty()) {
        EXPECT_EQ(sample.label, "") << row.name;
      }
      const auto number = sample.value.number();
      if (!number) continue;
      EXPECT_GE(*number, row.min) << row.name;
      EXPECT_LE(*number, row.max) << row.name;
      EXPECT_EQ(row.label.empty(), sample.label.empty()) << row.name;
    }
  }

  SystemClock clock_;
  platform::RootFs tree_;  // as it is, whatever is damaged
  SourceOptions options_;
  std::unique_ptr<Source> source_;
  Opened opened_;
  std::mutex mutex_;
  std::set<std::string> files_read_;
  std::string damaged_;
  Damage damage_;
};

class EverySource : public testing::TestWithParam<Case> {
 protected:
  static void SetUpTestSuite() {
    ::setenv("GPUSIGHT_SIM_SCENARIO", "a100-mig", 1);
    ::setenv("GPUSIGHT_SIM_CONTROL", control().c_str(), 1);
    write_control("");
  }
  void TearDown() override { write_control(""); }
  static std::string control() {
    return testing::TempDir() + "contract." + std::to_string(::getpid()) + ".toml";
  }
  static void write_control(const std::string& text) {
    const std::string next = control() + ".new";
    std::ofstream(next) << text;
    fs::rename(next, control());
    ::usleep(30000);  // the library looks at the file again after 20 ms
  }
};

TEST_P(EverySource, GivesAValueOrAReasonForEverythingItDeclares) {
  Fixture fixture(GetParam());
  ASSERT_NE(fixture.opened().generation, nullptr) << catalog::format_message(
      fixture.opened().status.message, catalog::Lang::kEnglish, fixture.opened().status.arguments);
  const auto told = fixture.poll_all();
  ASSERT_FALSE(told.empty());
  for (const auto& [uuid, metrics] : told) {
    const Scope scope = uuid == kHost ? Scope::kHost : Scope::kDevice;
    for (const MetricId id : fixture.source().declares()) {
      const MetricRow& row = catalog::metric(id);
      // What the sampler fills in: what it knows of every device, what it counts from events, the
      // companions of a tick without samples, and what an instance leaves to its GPU.
      const bool is_filled_in = id == MetricId::kGpuUp || id == MetricId::kGpuAsleep ||
                                row.name.starts_with("gpu_xid_") || row.mean_row ||
                                uuid.starts_with("MIG-");
      if (row.scope != scope || is_filled_in) continue;
      EXPECT_TRUE(metrics.contains(id)) << uuid << " " << row.name;
    }
  }
}

// FAULT-047
TEST_P(EverySource, SurvivesEveryFileFailingInEveryWay) {
  Fixture fixture(GetParam());
  fixture.poll_all();
  for (const std::string& path : fixture.files_read()) {
    for (const auto& [name, damage] : damages()) {
      SCOPED_TRACE(testing::Message() << path << " " << name);
      fixture.damage(path, damage);
      fixture.poll_all();
    }
    fixture.damage("", {});
  }
  EXPECT_FALSE(fixture.poll_all().empty()) << "well again after all that";
}

TEST_P(EverySource, OpensOrSaysWhyWhateverItsFilesSay) {
  Fixture fixture(GetParam());
  for (const std::string& path : fixture.files_read()) {
    for (const auto& [name, damage] : damages()) {
      SCOPED_TRACE(testing::Message() << path << " " << name);
      fixture.damage(path, damage);
      fixture.reopen();
      if (!fixture.opened().generation) {
        EXPECT_NE(fixture.opened().status.message, catalog::MessageId::kNone);
      }
    }
  }
}

// FAULT-089
TEST_P(EverySource, SurvivesEveryCallFailingInMidRead) {
  Fixture fixture(GetParam());
  for (const int code : {1, 2, 3, 4, 6, 7, 9, 13, 15, 16, 18, 25, 26, 27, 999, 1000}) {
    for (const int every : {1, 3}) {
      SCOPED_TRACE("code " + std::to_string(code) + ", once in " + std::to_string(every));
      write_control("[[fault]]\nkind = \"return\"\nfunction = \"*\"\ncode = " +
                    std::to_string(code) + "\nevery = " + std::to_string(every) + "\n");
      fixture.poll_all();
    }
  }
}

// Those that read kernel files of GPUs are tried on each kind of GPU.
std::vector<Case> cases() {
  const std::vector<std::pair<std::string, TreeFiles>> amd = {
      {"board", amd_board_tree()}, {"apu", amd_apu_tree()}, {"instinct", amd_instinct_tree()}};
  std::vector<Case> all;
  for (const SourceRow& row : source_rows()) {
    if (row.name != "amdgpu") {
      all.push_back({row, "", GPUSIGHT_TEST_TREE});
      continue;
    }
    for (const auto& [name, files] : amd) {
      const std::string root =
          testing::TempDir() + "contract." + name + "." + std::to_string(::getpid());
      write_tree(root, files);
      all.push_back({row, name, root});
    }
  }
  return all;
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
  return std::string(info.param.row.name) + info.param.tree;
}

INSTANTIATE_TEST_SUITE_P(Registry, EverySource, testing::ValuesIn(cases()), case_name);

}  // namespace
}  // namespace gpusight::collect

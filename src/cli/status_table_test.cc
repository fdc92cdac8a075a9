#include "cli/status_table.h"

#include <gtest/gtest.h>

#include "base/display_width.h"
#include "base/text.h"
#include "cli/golden.h"
#include "cli/status_parts.h"
#include "cli/test_snapshots.h"

namespace gpusight::cli {
namespace {

using catalog::Lang;

ViewOptions view(size_t width, Lang lang = Lang::kEnglish) {
  return {.lang = lang, .width = width, .zone = TimeZone::kUtc};
}

struct Case {
  const char* name;
  model::Snapshot (*snapshot)();
  size_t width;
  Lang lang = Lang::kEnglish;
};

constexpr Case kCases[] = {
    {"h100_80.txt", &test::eight_h100, 80},
    {"h100_120.txt", &test::eight_h100, 120},
    {"h100_200.txt", &test::eight_h100, 200},
    {"h100_zh_80.txt", &test::eight_h100, 80, Lang::kChinese},
    {"one_80.txt", &test::one_gpu, 80},
    {"one_140.txt", &test::one_gpu, 140},
    {"mig_80.txt", &test::with_instances, 80},
    {"mig_zh_100.txt", &test::with_instances, 100, Lang::kChinese},
    {"troubled_80.txt", &test::troubled, 80},
    {"troubled_120.txt", &test::troubled, 120},
    {"troubled_zh_80.txt", &test::troubled, 80, Lang::kChinese},
    {"no_gpu_80.txt", &test::no_gpu, 80},
    {"no_gpu_zh_80.txt", &test::no_gpu, 80, Lang::kChinese},
    {"simulated_80.txt", &test::simulated, 80},
    {"simulated_zh_80.txt", &test::simulated, 80, Lang::kChinese},
    {"hostile_80.txt", &test::hostile, 80},
    {"hidden_100.txt", &test::others_hidden, 100},
};

class StatusGolden : public testing::TestWithParam<Case> {};

TEST_P(StatusGolden, LooksAsWhenItWasLastLookedAt) {
  const Case& c = GetParam();
  test::expect_golden(c.name, status_text(c.snapshot(), view(c.width, c.lang)));
}

INSTANTIATE_TEST_SUITE_P(All, StatusGolden, testing::ValuesIn(kCases), [](const auto& info) {
  const std::string name = info.param.name;
  return name.substr(0, name.find('.'));
});

TEST(StatusTable, NoLineIsWiderThanTheTerminal) {
  for (const Case& c : kCases) {
    for (const size_t width : {20u, 40u, 60u, 80u, 100u, 133u, 250u}) {
      for (const Lang lang : {Lang::kEnglish, Lang::kChinese}) {
        const std::string text = status_text(c.snapshot(), view(width, lang));
        for (const std::string_view line : split(text, '\n')) {
          EXPECT_LE(display_width(line), width) << c.name << "\n" << line;
        }
      }
    }
  }
}

// FAULT-038
TEST(StatusTable, ALostGpuIsARowThatSaysSinceWhenAndTheOthersGoOn) {
  const std::string text = status_text(test::troubled(), view(80));
  EXPECT_NE(text.find("LOST since 12-31 23:39"), std::string::npos) << text;
  EXPECT_NE(text.find("  0  H100 80GB HBM3"), std::string::npos) << text;
  EXPECT_NE(text.find("  5  H100 80GB HBM3"), std::string::npos) << text;
}

// FAULT-006
TEST(StatusTable, MemoryThatIsNotKnownSortsLastAndIsNeverANumber) {
  const model::Snapshot s = test::troubled();
  EXPECT_EQ(owners_text(s.devices[0], OwnerDetail::kMemory, 3, Lang::kEnglish),
            "bob/train 2 3.0 GiB, alice/python3 1 –");
}

// FAULT-062
TEST(StatusTable, APidOfAnotherNamespaceIsSaidToBeOneAndGivenNoName) {
  model::DeviceSnapshot d = test::gpu(0, "x", {});
  model::Process p = test::process(4711, "", 0, "", test::fresh(test::kGiB));
  p.driver_name = "python3";
  p.owner = {.state = model::OwnerState::kForeign, .command = "sshd", .user = "root"};
  d.processes = {p};
  EXPECT_EQ(owners_text(d, OwnerDetail::kMemory, 3, Lang::kEnglish), "host pid 4711");
  EXPECT_EQ(owners_text(d, OwnerDetail::kMemory, 3, Lang::kChinese), "宿主 PID 4711");
}

// FAULT-126
TEST(StatusTable, AValueAnOldOneAndAnAbsentOneAreToldApart) {
  const std::string text = status_text(test::troubled(), view(80));
  EXPECT_NE(text.find("50 %*"), std::string::npos) << text;
  EXPECT_NE(text.find("* the last reading, 4 s old: the driver has not answered yet"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("– Power, GPU 4, 5: needs two readings, the first is taken"),
            std::string::npos)
      << text;
}

// FAULT-080
TEST(StatusTable, WhoKeepsAnUnusedGpuAwakeIsNamed) {
  model::Snapshot snapshot = test::one_gpu();
  model::DeviceSnapshot& gpu = snapshot.devices[0];
  gpu.processes.clear();
  gpu.hidden_users.clear();
  gpu.processes_known = true;
  gpu.holders =
      model::Holders{.processes = {{.pid = 700, .owner = {.command = "Xorg"}},
                                   {.pid = 800, .owner = {.command = "kwin\xE2\x80\xAE"}}}};
  const std::string text = status_text(snapshot, view(100));
  EXPECT_NE(text.find("GPU 0 is kept awake by Xorg (700), kwin"), std::string::npos) << text;
  gpu.holders = model::Holders{.is_partial = true};
  EXPECT_NE(status_text(snapshot, view(120)).find("no permission to look"), std::string::npos);
  gpu.holders = model::Holders{};
  EXPECT_EQ(status_text(snapshot, view(100)).find("awake"), std::string::npos);
  gpu.holders.reset();  // it could not sleep anyway
  EXPECT_EQ(status_text(snapshot, view(100)).find("awake"), std::string::npos);
}

// FAULT-101
TEST(StatusTable, AGpuThatWasLetGoOfSaysSinceWhen) {
  model::Snapshot snapshot = test::one_gpu();
  snapshot.devices[0].state = model::DeviceState::kReleased;
  EXPECT_NE(status_text(snapshot, view(100)).find("released"), std::string::npos);
  EXPECT_NE(status_text(snapshot, view(100, Lang::kChinese)).find("已释放"), std::string::npos);
}

TEST(StatusTable, ColoursOnlyAddEscapesToTheSameText) {
  for (const Case& c : kCases) {
    ViewOptions options = view(c.width, c.lang);
    const std::string plain = status_text(c.snapshot(), options);
    options.colour = true;
    std::string text = status_text(c.snapshot(), options);
    for (size_t at; (at = text.find('\x1b')) != std::string::npos;) {
      text.erase(at, text.find('m', at) - at + 1);
    }
    const auto squeezed = [](std::string s) {
      std::erase(s, ' ');
      return s;
    };
    EXPECT_EQ(squeezed(text), squeezed(plain)) << c.name;
  }
}

TEST(StatusParts, RangesOfLabelsAreJoined) {
  EXPECT_EQ(label_ranges({"0", "1", "2", "3", "7"}), "0–3, 7");
  EXPECT_EQ(label_ranges({"0", "1"}), "0, 1");
  EXPECT_EQ(label_ranges({"0/1", "0/7", "x"}), "0/1, 0/7, x");
  EXPECT_EQ(label_ranges({}), "");
}

TEST(StatusParts, MoreMissingThanFitsIsCounted) {
  Notes notes;
  for (int i = 0; i < 9; ++i) notes.absent("x" + std::to_string(i), "0", model::Reason::kBusy);
  const std::vector<std::string> lines = notes.lines(Lang::kEnglish);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines.back(), "– 6 more; `gpusight status --json` has every reason");
}

}  // namespace
}  // namespace gpusight::cli

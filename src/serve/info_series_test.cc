// gpu_info among recorded series.
#include "serve/info_series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "promql/engine.h"
#include "promql/memory_series.h"
#include "promql/parser.h"

namespace gpusight::serve {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

model::Device device(std::string uuid, std::string name, uint32_t index) {
  model::Device made;
  made.uuid = std::move(uuid);
  made.name = std::move(name);
  made.index = index;
  return made;
}

// gpu_up and gpu_power_watts of GPU-a and GPU-b each second for 100 s; b is lost in the middle and
// has no gpu_up at the end. GPU-c is known and nothing is recorded of it.
class InfoSeriesTest : public testing::Test {
 protected:
  InfoSeriesTest() {
    for (int i = 0; i < 100; ++i) {
      const int64_t now = int64_t{i} * 1000;
      add("gpu_up", "GPU-a", now, 1);
      if (i < 90) add("gpu_up", "GPU-b", now, i < 50 ? 1 : 0);
      if (i == 90) add("gpu_up", "GPU-b", now, model::stale_marker());
      add("gpu_power_watts", "GPU-a", now, 100 + i);
      add("gpu_power_watts", "GPU-b", now, 200);
    }
  }
  void add(std::string name, std::string uuid, int64_t time, double value) {
    const model::Labels labels = {{"__name__", std::move(name)}, {"uuid", std::move(uuid)}};
    ASSERT_TRUE(recorded_.add(labels, {&time, 1}, {&value, 1}).ok());
  }

  // "{labels} value" of an instant query.
  std::vector<std::string> ask(std::string_view query, int64_t time_ms) {
    const promql::Engine engine({}, clock_);
    const auto expr = promql::parse(query);
    EXPECT_TRUE(expr.ok()) << expr.status().message();
    const auto answer = engine.instant(series_, **expr, time_ms, {});
    EXPECT_TRUE(answer.ok()) << answer.status().message();
    std::vector<std::string> lines;
    if (!answer.ok()) return lines;
    for (const promql::Sample& sample : std::get<promql::Vector>(answer->value)) {
      std::string line;
      for (const auto& [name, value] : sample.labels) {
        line.append(name).append("=").append(value).append(" ");
      }
      lines.push_back(line + std::to_string(static_cast<int>(sample.point.value)));
    }
    return lines;
  }

  promql::MemorySeries recorded_;
  std::vector<model::Device> devices_ = {device("GPU-b", "H100", 1), device("GPU-a", "A100", 0),
                                         device("GPU-a", "twin", 2), device("GPU-c", "B200", 3)};
  InfoSeries series_{&recorded_, [this] { return devices_; }};
  SystemClock clock_;
};

TEST_F(InfoSeriesTest, FactsJoinByUuid) {
  EXPECT_THAT(ask("gpu_power_watts * on(uuid) group_left(name) gpu_info", 50'000),
              ElementsAre("name=A100 uuid=GPU-a 150", "name=H100 uuid=GPU-b 200"));
}

TEST_F(InfoSeriesTest, ItStandsWhereTheDeviceIsKnownUpOrDown) {
  EXPECT_THAT(ask("gpu_info", 60'000),
              ElementsAre("__name__=gpu_info gpu=0 kind=gpu name=A100 uuid=GPU-a 1",
                          "__name__=gpu_info gpu=1 kind=gpu name=H100 uuid=GPU-b 1"));
  EXPECT_THAT(ask("gpu_info", 95'000),
              ElementsAre("__name__=gpu_info gpu=0 kind=gpu name=A100 uuid=GPU-a 1"));
  EXPECT_THAT(ask("count_over_time(gpu_info{uuid=\"GPU-b\"}[200s])", 99'000),
              ElementsAre("gpu=1 kind=gpu name=H100 uuid=GPU-b 90"));
  EXPECT_THAT(ask("sum_over_time(gpu_info{gpu=\"1\"}[200s])", 99'000),
              ElementsAre("gpu=1 kind=gpu name=H100 uuid=GPU-b 90"));
}

TEST_F(InfoSeriesTest, ItComesInOrderAmongTheOthers) {
  const auto set = series_.select({}, {.start_ms = -1, .end_ms = 100'000}, {});
  ASSERT_TRUE(set.ok());
  std::vector<model::Labels> labels;
  while (true) {
    const auto cursor = (*set)->next();
    ASSERT_TRUE(cursor.ok());
    if (*cursor == nullptr) break;
    labels.push_back((*cursor)->labels());
  }
  EXPECT_EQ(labels.size(), 6U);
  EXPECT_TRUE(std::ranges::is_sorted(labels));
}

TEST_F(InfoSeriesTest, ListsNameItWhereThereIsSomething) {
  const auto names = series_.label_values("__name__", {}, 0, 100'000, {});
  ASSERT_TRUE(names.ok());
  EXPECT_THAT(*names, ElementsAre("gpu_info", "gpu_power_watts", "gpu_up"));
  EXPECT_THAT(*series_.label_values("name", {}, 0, 100'000, {}), ElementsAre("A100", "H100"));
  EXPECT_THAT(*series_.label_names({}, 0, 100'000, {}), Contains("name"));
  EXPECT_THAT(*series_.label_names({}, 200'000, 300'000, {}), Not(Contains("name")));
  const model::Matcher power[] = {model::equal_matcher("__name__", "gpu_power_watts")};
  EXPECT_THAT(*series_.label_names(power, 0, 100'000, {}), ElementsAre("__name__", "uuid"));
}

}  // namespace
}  // namespace gpusight::serve

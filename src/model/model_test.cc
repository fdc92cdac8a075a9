#include <gtest/gtest.h>

#include <cmath>

#include "model/caller.h"
#include "model/queryable.h"
#include "model/snapshot.h"

namespace gpusight::model {
namespace {

TEST(Value, AbsentHasAReasonAndNoNumber) {
  const Value v = Value::absent(Reason::kNotSupported);
  EXPECT_EQ(v.number(), std::nullopt);
  EXPECT_EQ(v.fresh_number(), std::nullopt);
  EXPECT_EQ(reason_key(v.reason()), "not_supported");
}

TEST(Value, StaleKeepsItsNumberForScreensAndGivesNoneToHistory) {
  const Value v = Value::fresh(5, MonoTime(std::chrono::seconds(1)), {}, 1).stale(Reason::kBusy);
  EXPECT_EQ(v.number(), 5);
  EXPECT_EQ(v.fresh_number(), std::nullopt);
  EXPECT_EQ(v.reason(), Reason::kBusy);
}

TEST(Value, EveryReasonHasAKeyThatReadsBackAndAMessage) {
  for (size_t i = 0; i < kReasonCount; ++i) {
    const auto reason = static_cast<Reason>(i);
    EXPECT_EQ(find_reason(reason_key(reason)), reason);
    EXPECT_EQ(catalog::message(reason_message(reason)).key,
              "reason." + std::string(reason_key(reason)));
  }
  EXPECT_EQ(find_reason("nonsense"), std::nullopt);
}

TEST(Device, ViewsListGpusByIndexEachFollowedByItsInstances) {
  std::vector<Device> devices(4);
  devices[0] = {.uuid = "MIG-b", .kind = DeviceKind::kMig, .parent = "GPU-1", .gpu_instance = 9};
  devices[1] = {.uuid = "GPU-1", .index = 1};
  devices[2] = {.uuid = "MIG-a", .kind = DeviceKind::kMig, .parent = "GPU-1", .gpu_instance = 7};
  devices[3] = {.uuid = "GPU-0", .index = 0};
  sort_for_views(devices);
  std::vector<std::string> order;
  for (const Device& d : devices) order.push_back(d.uuid);
  EXPECT_EQ(order, (std::vector<std::string>{"GPU-0", "GPU-1", "MIG-a", "MIG-b"}));
}

TEST(Snapshot, FindsASeriesByMetricAndLabel) {
  const Samples samples = {{catalog::MetricId::kGpuPower, "", Value::absent(Reason::kBusy)},
                           {catalog::MetricId::kGpuClock, "memory", Value()},
                           {catalog::MetricId::kGpuClock, "sm", Value()}};
  EXPECT_EQ(find_sample(samples, catalog::MetricId::kGpuClock, "sm"), &samples[2].value);
  EXPECT_EQ(find_sample(samples, catalog::MetricId::kGpuClock, "video"), nullptr);
  EXPECT_EQ(find_sample(samples, catalog::MetricId::kGpuUp), nullptr);
}

// FAULT-135
TEST(Caller, SeesItsOwnProcessesOnlyAndAnAdminSeesAll) {
  const Owner alice{.state = OwnerState::kKnown, .uid = 1000};
  EXPECT_FALSE((Caller{.identity = Anonymous{}, .role = Role::kView}).may_see(alice));
  EXPECT_FALSE((Caller{.identity = Anonymous{}, .role = Role::kOwn}).may_see(alice));
  EXPECT_TRUE((Caller{.identity = LocalUser{1000}, .role = Role::kOwn}).may_see(alice));
  EXPECT_FALSE((Caller{.identity = LocalUser{1001}, .role = Role::kOwn}).may_see(alice));
  EXPECT_FALSE((Caller{.identity = LocalUser{1000}, .role = Role::kOwn}).may_see(Owner{}));
  EXPECT_TRUE((Caller{.identity = LocalUser{0}, .role = Role::kAdmin}).may_see(alice));
}

TEST(Queryable, MatchersSeeAnAbsentLabelAsEmptyText) {
  const Labels labels = {{"__name__", "gpu_up"}, {"uuid", "GPU-1"}};
  const Matcher name = equal_matcher("__name__", "gpu_up");
  EXPECT_TRUE(matches(labels, std::vector{name, equal_matcher("fan", "")}));
  EXPECT_FALSE(matches(labels, std::vector{name, equal_matcher("uuid", "GPU-2")}));
  EXPECT_TRUE(std::isnan(stale_marker()));
  EXPECT_FALSE(is_stale_marker(std::nan("")));
}

}  // namespace
}  // namespace gpusight::model

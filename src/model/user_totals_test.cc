#include "model/user_totals.h"

#include <gtest/gtest.h>

#include "model/snapshot.h"

namespace gpusight::model {
namespace {

Process held_by(std::optional<uint32_t> uid, std::string user, Value memory) {
  Process p;
  p.memory_bytes = memory;
  p.owner.uid = uid;
  p.owner.user = std::move(user);
  return p;
}

Value bytes(double n) { return Value::fresh(n, {}, {}, 1); }

TEST(UserTotals, AddUpPerUserAndStandWithMostMemoryFirst) {
  DeviceSnapshot d;
  d.processes = {held_by(1001, "bob", bytes(5)), held_by(1000, "alice", bytes(4)),
                 held_by(1000, "alice", bytes(4)), held_by({}, "", bytes(1))};
  const std::vector<UserTotal> expected = {
      {.user = "alice", .uid = 1000, .processes = 2, .memory_bytes = 8},
      {.user = "bob", .uid = 1001, .processes = 1, .memory_bytes = 5},
      {.user = "", .uid = {}, .processes = 1, .memory_bytes = 1}};
  EXPECT_EQ(totals_by_user(d), expected);
}

// FAULT-006
TEST(UserTotals, APartIsNoTotalAndStandsLast) {
  DeviceSnapshot d;
  d.processes = {held_by(1000, "alice", Value::absent(Reason::kNoPermission)),
                 held_by(1000, "alice", bytes(1e12)), held_by(1001, "bob", bytes(1))};
  const auto totals = totals_by_user(d);
  ASSERT_EQ(totals.size(), 2u);
  EXPECT_EQ(totals[0].user, "bob");
  EXPECT_EQ(totals[1].memory_bytes, std::nullopt);
  EXPECT_EQ(totals[1].processes, 2u);
}

TEST(UserTotals, CountWhatIsHidden) {
  DeviceSnapshot d;
  d.hidden_users = {{.user = "bob", .uid = 1001, .processes = 3, .memory_bytes = 7}};
  d.processes = {held_by(1001, "bob", bytes(1))};
  EXPECT_EQ(
      totals_by_user(d),
      (std::vector<UserTotal>{{.user = "bob", .uid = 1001, .processes = 4, .memory_bytes = 8}}));
}

}  // namespace
}  // namespace gpusight::model

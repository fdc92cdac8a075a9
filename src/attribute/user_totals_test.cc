#include "attribute/user_totals.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/caller.h"

namespace gpusight::attribute {
namespace {

using model::OwnerState;
using model::Process;
using model::Reason;
using model::Value;
using Kind = UserTotal::Kind;

constexpr MonoTime kNow{std::chrono::seconds(100)};
Value bytes(double n, MonoTime at = kNow) { return Value::fresh(n, at, {}, 1); }

Process row(int64_t pid, std::optional<uint32_t> uid, std::string user, Value memory) {
  Process process{.pid = pid, .start_ticks = 1, .memory_bytes = memory};
  process.owner.state = uid ? OwnerState::kKnown : OwnerState::kExited;
  process.owner.uid = uid;
  process.owner.user = std::move(user);
  process.owner.command = "train --password=secret";
  return process;
}

// FAULT-064
TEST(UserTotalsTest, MemoryAndProcessesAreAddedUpPerUserMostMemoryFirst) {
  const std::vector<Process> rows{row(1, 1000, "ada", bytes(100)), row(2, 1001, "bob", bytes(500)),
                                  row(3, 1000, "ada", bytes(50)),
                                  row(4, std::nullopt, "", bytes(9000))};
  const auto totals = totals_by_user(rows);
  ASSERT_EQ(totals.size(), 3u);
  EXPECT_EQ(totals[0].user, "bob");
  EXPECT_EQ(totals[0].memory_bytes.number(), 500);
  EXPECT_EQ(totals[1].user, "ada");
  EXPECT_EQ(totals[1].uid, 1000u);
  EXPECT_EQ(totals[1].processes, 2u);
  EXPECT_EQ(totals[1].memory_bytes.number(), 150);
  EXPECT_EQ(totals[2].kind, Kind::kUnknown);
  EXPECT_EQ(totals[2].memory_bytes.number(), 9000);
}

TEST(UserTotalsTest, NoRowsNoTotals) { EXPECT_TRUE(totals_by_user({}).empty()); }

TEST(UserTotalsTest, AProcessOnSeveralDevicesCountsOnceItsMemoryEachTime) {
  std::vector<Process> rows{row(1, 7, "", bytes(10)), row(1, 7, "", bytes(20)),
                            row(1, 7, "", bytes(30))};
  rows[2].start_ticks = 2;  // the same pid, another process
  const auto totals = totals_by_user(rows);
  ASSERT_EQ(totals.size(), 1u);
  EXPECT_EQ(totals[0].processes, 2u);
  EXPECT_EQ(totals[0].memory_bytes.number(), 60);
}

TEST(UserTotalsTest, MemoryThatIsNotKnownIsNeverZero) {
  const Value hidden = Value::absent(Reason::kNoPermission);
  const std::vector<Process> rows{row(1, 1, "none", hidden), row(2, 1, "none", hidden),
                                  row(3, 2, "some", hidden), row(4, 2, "some", bytes(5)),
                                  row(5, 3, "zero", bytes(0))};
  const auto totals = totals_by_user(rows);
  ASSERT_EQ(totals.size(), 3u);
  EXPECT_EQ(totals[0].user, "some");
  EXPECT_EQ(totals[0].memory_bytes.number(), 5);
  EXPECT_EQ(totals[0].rows_without_memory, 1u);
  EXPECT_EQ(totals[1].user, "zero");
  EXPECT_EQ(totals[2].user, "none");
  EXPECT_EQ(totals[2].memory_bytes.number(), std::nullopt);
  EXPECT_EQ(totals[2].memory_bytes.reason(), Reason::kNoPermission);
  EXPECT_EQ(totals[2].rows_without_memory, 2u);
}

TEST(UserTotalsTest, ATotalIsAsOldAsItsOldestPart) {
  const MonoTime before = kNow - std::chrono::seconds(5);
  const std::vector<Process> rows{row(1, 1, "", bytes(1)),
                                  row(2, 1, "", bytes(2, before).stale(Reason::kBusy))};
  const auto totals = totals_by_user(rows);
  EXPECT_EQ(totals[0].memory_bytes.presence(), model::Presence::kStale);
  EXPECT_EQ(totals[0].memory_bytes.reason(), Reason::kBusy);
  EXPECT_EQ(totals[0].memory_bytes.read_at(), before);
  EXPECT_EQ(totals[0].memory_bytes.number(), 3);
}

// FAULT-064
TEST(UserTotalsTest, UsersPastTheBoundAreFoldedIntoOne) {
  std::vector<Process> rows;
  for (uint32_t uid = 0; uid < 10; ++uid) rows.push_back(row(uid, uid, "", bytes(100 + uid)));
  rows.push_back(row(99, std::nullopt, "", bytes(1)));
  const auto totals = totals_by_user(rows, 3);
  ASSERT_EQ(totals.size(), 5u);
  EXPECT_EQ(totals[2].uid, 7u);
  EXPECT_EQ(totals[3].kind, Kind::kOthers);
  EXPECT_EQ(totals[3].uid, std::nullopt);
  EXPECT_EQ(totals[3].processes, 7u);
  EXPECT_EQ(totals[3].memory_bytes.number(), 100 + 101 + 102 + 103 + 104 + 105 + 106);
  EXPECT_EQ(totals[4].kind, Kind::kUnknown);
  EXPECT_EQ(totals_by_user(rows).size(), 11u);
}

// FAULT-135
TEST(UserTotalsTest, OneWhoMaySeeTheirOwnOnlyLearnsNumbersOfOthers) {
  const model::Caller ada{.identity = model::LocalUser{1000}, .role = model::Role::kOwn};
  std::vector<Process> rows{row(1, 1000, "ada", bytes(1)), row(2, 1001, "bob", bytes(2)),
                            row(3, std::nullopt, "", bytes(4))};
  const auto hidden = std::partition(
      rows.begin(), rows.end(), [&](const Process& process) { return ada.may_see(process.owner); });
  ASSERT_EQ(rows.end() - hidden, 2);
  for (const UserTotal& total : totals_by_user(std::span(hidden, rows.end()))) {
    EXPECT_EQ(total.processes, 1u);
    EXPECT_EQ(total.user.find("secret"), std::string::npos);
  }
}

}  // namespace
}  // namespace gpusight::attribute

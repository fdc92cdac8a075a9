#include "store/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "store/history_test_util.h"

namespace gpusight::store {
namespace {

using catalog::MetricId;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(History, WhatWasRecordedIsThereAfterARestart) {
  RecordedMachine machine;
  Points expected;
  for (int i = 0; i < 25; ++i) {
    const double celsius = 40 + i % 7;
    expected.push_back({machine.celsius(celsius), celsius});
  }
  machine.restart();
  EXPECT_EQ(machine.points(), expected);
  EXPECT_TRUE(machine.history->stats().recording.ok());
}

TEST(History, DiskAndHeadTogetherShowEachSampleOnce) {
  RecordedMachine machine;
  Points expected;
  for (int i = 0; i < 95; ++i) expected.push_back({machine.celsius(i), double(i)});
  machine.settle();
  EXPECT_EQ(machine.points(), expected);
  machine.restart();
  for (int i = 0; i < 17; ++i) expected.push_back({machine.celsius(i), double(i)});
  machine.settle();
  EXPECT_EQ(machine.points(), expected);
}

TEST(History, ASeriesGoesOnUnderItsNumberAfterARestart) {
  RecordedMachine machine;
  machine.celsius(40);
  machine.restart();
  machine.celsius(41);
  machine.restart();
  EXPECT_EQ(machine.history->stats().series, 1U);
}

}  // namespace
}  // namespace gpusight::store

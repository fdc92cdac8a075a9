#include "export/prometheus/name_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "export/prometheus/render.h"

namespace gpusight::prometheus {
namespace {

using testing::HasSubstr;

NameSets parsed(std::vector<std::string> texts) {
  const Result<NameSets> names = parse_name_sets(texts);
  EXPECT_TRUE(names.ok()) << names.status().message();
  return names.ok() ? *names : NameSets();
}

TEST(NameSet, EveryKeyIsReadBack) {
  for (size_t i = 0; i < kNameSetCount; ++i) {
    const auto set = static_cast<NameSet>(i);
    EXPECT_EQ(parsed({std::string(name_set_key(set))}), NameSets(set));
    EXPECT_THAT(name_set_keys(), HasSubstr(std::string(name_set_key(set))));
  }
}

TEST(NameSet, SeveralStandTogetherHoweverTheyAreWritten) {
  const NameSets both = NameSets(NameSet::kDcgm).with(NameSet::kNvidiaSmi);
  EXPECT_EQ(parsed({"dcgm,nvidia_smi"}), both);
  EXPECT_EQ(parsed({"nvidia_smi, dcgm"}), both);
  EXPECT_EQ(parsed({"nvidia_smi", "dcgm", "dcgm"}), both);
  EXPECT_FALSE(both.has(NameSet::kGpusight));
  EXPECT_FALSE(both.is_only(NameSet::kDcgm));
}

TEST(NameSet, WhatIsNoneOfThemIsAnErrorThatSaysWhichThereAre) {
  for (const std::vector<std::string>& texts :
       std::vector<std::vector<std::string>>{{"DCGM"}, {""}, {"dcgm,"}, {"dcgm", "x\n<y>"}, {}}) {
    const Result<NameSets> names = parse_name_sets(texts);
    ASSERT_FALSE(names.ok());
    EXPECT_EQ(names.status().code(), Code::kInvalidArgument);
    EXPECT_THAT(names.status().message(), HasSubstr("gpusight, dcgm, dcgm46, nvidia_smi"));
    EXPECT_EQ(names.status().message().find('\n'), std::string::npos);
  }
}

TEST(NameSet, EveryCombinationHasANumberOfItsOwn) {
  std::set<size_t> numbers;
  for (size_t i = 1; i < NameSets::kCombinations; ++i) {
    std::vector<std::string> keys;
    for (size_t k = 0; k < kNameSetCount; ++k) {
      if ((i >> k & 1) != 0) keys.emplace_back(name_set_key(static_cast<NameSet>(k)));
    }
    const size_t number = parsed(keys).number();
    EXPECT_TRUE(number > 0 && number < NameSets::kCombinations);
    numbers.insert(number);
  }
  EXPECT_EQ(numbers.size(), NameSets::kCombinations - 1);
}

TEST(NameSet, OnlyOurOwnNamesAreWrittenAsOpenMetrics) {
  EXPECT_EQ(format_of({}, Format::kOpenMetrics100), Format::kOpenMetrics100);
  EXPECT_EQ(format_of(NameSet::kDcgm, Format::kOpenMetrics100), Format::kText004);
  EXPECT_EQ(format_of(NameSets().with(NameSet::kNvidiaSmi), Format::kOpenMetrics100),
            Format::kText004);
}

}  // namespace
}  // namespace gpusight::prometheus

#include "cli/query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/golden.h"
#include "cli/query_answer.h"
#include "cli/test_machine.h"
#include "store/backfill.h"
#include "store/state_lock.h"

namespace gpusight::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kVector =
    R"({"status":"success","data":{"resultType":"vector","result":[)"
    R"({"metric":{"__name__":"gpu_power_watts","uuid":"GPU-a"},"value":[1735689600.5,"612.25"]},)"
    R"({"metric":{"__name__":"gpu_power_watts","uuid":"GPU-=b"},"value":[1735689600.5,"NaN"]}]},)"
    R"x("warnings":["PromQL warning: mind the gap (1:5)"],"infos":["PromQL info: tier 1m"]})x";
constexpr const char* kMatrix =
    R"({"status":"success","data":{"resultType":"matrix","result":[)"
    R"({"metric":{"uuid":"GPU-a"},"values":[[1735689600,"1"],[1735689660,"2"]]},)"
    R"({"metric":{"gpu":"b"},"values":[[1735689660,"3"]]}]}})";

class QueryCommand : public test::CommandTest {
 protected:
  QueryCommand() {
    folder_ = testing::TempDir() + "gpusight.query." + std::to_string(::getpid());
    fs::remove_all(folder_);
    machine_.paths.state_dirs = {folder_};
    hooks_.answer_query = [this](const std::string& target, const std::string& history) {
      read_.push_back(history);
      targets_.push_back(target);
      return answer_;
    };
  }
  ~QueryCommand() override { fs::remove_all(folder_); }

  void daemon_answers(const std::string& body, int status = 200) {
    daemon_.sockets["/run/gpusight/gpusight.sock"] =
        [this, body, status](const platform::HttpRequest& request) {
          targets_.push_back(request.target);
          forms_.push_back(request.form);
          return Result<platform::HttpResponse>(
              platform::HttpResponse{.status = status, .content_type = {}, .body = body});
        };
  }
  void make_history() {
    const auto lock = store::StateLock::take(folder_);
    ASSERT_TRUE(lock.ok());
    ASSERT_TRUE(store::Backfill::open({.lock = &*lock}).ok());
  }

  std::string folder_;
  std::string answer_ = kVector;
  std::vector<std::string> read_;
  std::vector<std::string> targets_;
  std::vector<std::string> forms_;
};

TEST_F(QueryCommand, AsksTheDaemonAndShowsATable) {
  daemon_answers(kVector);
  io_.width = 80;
  ASSERT_EQ(run({"query", "gpu_power_watts > 0", "--at", "2025-01-01T00:00:00.5Z"}), kExitOk)
      << err_;
  ASSERT_EQ(targets_.size(), 1U);
  EXPECT_EQ(targets_[0], "/api/v1/query?query=gpu_power_watts%20%3E%200&time=1735689600.5");
  test::expect_golden("query_80.txt", out_);
  EXPECT_EQ(err_, "gpusight: PromQL warning: mind the gap (1:5)\ngpusight: PromQL info: tier 1m\n");
}

TEST_F(QueryCommand, CsvHasAColumnForEachLabelAndJsonIsTheApis) {
  daemon_answers(kVector);
  ASSERT_EQ(run({"query", "gpu_power_watts", "--csv"}), kExitOk);
  EXPECT_EQ(out_,
            "time,metric,uuid,value\n"
            "2025-01-01T00:00:00.500Z,gpu_power_watts,GPU-a,612.25\n"
            "2025-01-01T00:00:00.500Z,gpu_power_watts,GPU-=b,NaN\n");
  ASSERT_EQ(run({"query", "gpu_power_watts", "--json"}), kExitOk);
  EXPECT_EQ(out_, std::string(kVector) + "\n");
  daemon_answers(kMatrix);
  ASSERT_EQ(run({"query", "gpu_power_watts", "--csv", "--range", "1h"}), kExitOk);
  EXPECT_EQ(out_,
            "time,gpu,uuid,value\n"
            "2025-01-01T00:00:00.000Z,,GPU-a,1\n"
            "2025-01-01T00:01:00.000Z,,GPU-a,2\n"
            "2025-01-01T00:01:00.000Z,b,,3\n");
}

TEST_F(QueryCommand, ARangeIsAskedForInSteps) {
  daemon_answers(kMatrix);
  const auto target = [&](std::vector<std::string> words) {
    targets_.clear();
    words.insert(words.begin(), {"query", "up"});
    EXPECT_EQ(run(words), kExitOk) << err_;
    return targets_.empty() ? "" : targets_[0];
  };
  EXPECT_EQ(target({"--end", "1735689600", "--range", "1h", "--step", "10s"}),
            "/api/v1/query_range?query=up&start=1735686000&end=1735689600&step=10");
  EXPECT_EQ(target({"--start", "1735686000", "--end", "1735689600.25"}),
            "/api/v1/query_range?query=up&start=1735686000&end=1735689600.25&step=14");
  EXPECT_THAT(target({"--start", "-1m"}), HasSubstr("&step=1"));
  EXPECT_EQ(run({"query", "up", "--step", "10s"}), kExitUsage);
  EXPECT_EQ(err_, "gpusight: --start, --range is missing\n");
  EXPECT_EQ(run({"query", "up", "--range", "1h", "--start", "-2h"}), kExitUsage);
  EXPECT_EQ(run({"query", "up", "--range", "1h", "--at", "-2h"}), kExitUsage);
  EXPECT_EQ(run({"query", "up", "--start", "now", "--end", "-2h"}), kExitUsage);
  EXPECT_EQ(run({"query", "up", "--at", "soon"}), kExitUsage);
}

TEST_F(QueryCommand, ALongQuestionIsPosted) {
  daemon_answers(kVector);
  ASSERT_EQ(run({"query", "up", "--at", "1735689600"}), kExitOk) << err_;
  const std::string query = "up{uuid=~\"" + std::string(6000, 'x') + "\"}";
  ASSERT_EQ(run({"query", query, "--at", "1735689600"}), kExitOk) << err_;
  EXPECT_EQ(forms_.at(0), "");
  EXPECT_EQ(targets_.at(1), "/api/v1/query");
  EXPECT_THAT(forms_.at(1), StartsWith("query=up%7Buuid%3D~%22xxx"));
  EXPECT_THAT(forms_.at(1), testing::EndsWith("x%22%7D&time=1735689600"));
}

TEST_F(QueryCommand, AFaultIsShownAtItsPlaceWithoutAskingAnybody) {
  EXPECT_EQ(run({"query", "sum(gpu_power_watts"}), kExitUsage);
  EXPECT_TRUE(targets_.empty());
  EXPECT_THAT(err_, StartsWith("gpusight: 1:"));
  EXPECT_THAT(err_, HasSubstr("parse error"));
  EXPECT_THAT(err_, HasSubstr("\n  sum(gpu_power_watts\n"));
  EXPECT_THAT(err_, HasSubstr("^\n"));
  EXPECT_EQ(place_in_query("a\n  + (b $)", "2:8: parse error: unexpected"),
            "  + (b $)\n       ^\n");
  EXPECT_EQ(place_in_query("温度 + ", "invalid parameter \"query\": 1:8: parse error: x: y"),
            "  温度 +\n       ^\n");
  EXPECT_EQ(place_in_query("a", "the limit is 10: too many"), "");
  EXPECT_EQ(place_in_query("a", "3:1: parse error"), "");
  EXPECT_EQ(place_in_query("a", "1:900: x"), "  a\n   ^\n");
}

TEST_F(QueryCommand, AnErrorOfTheApiIsTold) {
  daemon_answers(
      R"({"status":"error","errorType":"execution","error":"1:1: query needs too many samples"})",
      422);
  EXPECT_EQ(run({"query", "up"}), kExitEnvironment);
  EXPECT_EQ(err_, "gpusight: 1:1: query needs too many samples\n  up\n  ^\n");
  daemon_answers(R"({"status":"error","errorType":"bad_data","error":"no"})", 400);
  EXPECT_EQ(run({"query", "up"}), kExitUsage);
  daemon_answers("<html>");
  EXPECT_EQ(run({"query", "up"}), kExitEnvironment);
  daemon_answers(R"({"status":"success","data":{"resultType":"vector","result":[]}})");
  EXPECT_EQ(run({"query", "up"}), kExitEnvironment);
  EXPECT_EQ(err_, "gpusight: the answer is empty\n");
  EXPECT_EQ(out_, "");
}

TEST_F(QueryCommand, WithoutADaemonItReadsTheStateDirectoryItself) {
  EXPECT_EQ(run({"query", "up"}), kExitEnvironment);
  EXPECT_EQ(err_,
            "gpusight: no daemon answers, and the recorded history cannot be read: there is no "
            "recorded history at " +
                folder_ + "/history.db\n");
  make_history();
  ASSERT_EQ(run({"query", "up"}), kExitOk) << err_;
  EXPECT_EQ(read_, std::vector<std::string>{folder_ + "/history.db"});
  // Named by hand, it is what the user wants to see, daemon or not.
  daemon_answers(kMatrix);
  read_.clear();
  ASSERT_EQ(run({"query", "up", "--state-dir", folder_}), kExitOk) << err_;
  EXPECT_EQ(read_.size(), 1U);
  // And so is a socket.
  EXPECT_EQ(run({"query", "up", "--socket", "/none.sock"}), kExitEnvironment);
  EXPECT_THAT(err_, StartsWith("gpusight: the daemon at /none.sock does not answer"));
}

TEST(QueryAnswer, WhatIsNoAnswerIsRefused) {
  constexpr const char* kNoLabel =
      R"({"status":"success","data":{"resultType":"vector","result":[{"metric":{"a":1},)"
      R"("value":[1,"2"]}]}})";
  for (const char* text :
       {"", "[]", "{}", R"({"status":"success"})", R"({"status":"success","data":[]})",
        R"({"status":"success","data":{"resultType":"vector","result":[{}]}})",
        R"({"status":"success","data":{"resultType":"scalar","result":["1","2"]}})", kNoLabel,
        R"({"status":"error"})"}) {
    EXPECT_FALSE(read_query_answer(text).ok()) << text;
  }
  const auto scalar = read_query_answer(
      R"({"status":"success","data":{"resultType":"scalar","result":[1.5,"2"]}})");
  ASSERT_TRUE(scalar.ok());
  EXPECT_EQ(scalar->rows.at(0).time_ms, 1500);
  EXPECT_EQ(scalar->rows.at(0).value, "2");
}

}  // namespace
}  // namespace gpusight::cli

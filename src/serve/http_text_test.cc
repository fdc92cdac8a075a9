#include "serve/http_text.h"

#include <gtest/gtest.h>

namespace gpusight::serve {
namespace {

TEST(HttpText, ATargetIsAPathAndDecodedParameters) {
  const auto target = parse_target("/a%20b+c?x=1%2B1&y=a+b&flag&&x=2");
  ASSERT_TRUE(target.ok());
  EXPECT_EQ(target->path, "/a b+c");
  EXPECT_EQ(target->parameters, (Parameters{{"x", "1+1"}, {"y", "a b"}, {"flag", ""}, {"x", "2"}}));
}

TEST(HttpText, RefusesTargetsThatAreNone) {
  for (const std::string bad : {"", "*", "http://127.0.0.1/", "/%", "/%4", "/%zz", "/%00", "/a%0ab",
                                "/\x01", "/%ff", "/?a=%ff", "/?%0d=1"}) {
    EXPECT_FALSE(parse_target(bad).ok()) << bad;
  }
  std::string many = "/?";
  for (size_t i = 0; i <= kMaxParameters; ++i) many += "a=1&";
  EXPECT_FALSE(parse_target(many).ok());
}

// FAULT-128
TEST(HttpText, OnlyNamesThatMeanThisMachineAreLocal) {
  for (const auto* local : {"localhost", "LOCALHOST:9780", "127.0.0.1", "127.0.0.1:9780",
                            "127.8.9.10:1", "[::1]", "[::1]:9780"}) {
    EXPECT_TRUE(is_local_host(local)) << local;
  }
  for (const auto* foreign : {"",
                              ":9780",
                              "example.org",
                              "localhost.example.org",
                              "127.0.0.1.example.org",
                              "127.1",
                              "127.0.0.256",
                              "127.0.0.+1",
                              "0.0.0.0",
                              "10.0.0.1",
                              "::1",
                              "[::1",
                              "[::2]:80",
                              "localhost:",
                              "localhost:99999",
                              "localhost:80:80",
                              "localhost:8a",
                              "[::1]x:80",
                              "user@localhost",
                              "localhost, example.org",
                              "[localhost]"}) {
    EXPECT_FALSE(is_local_host(foreign)) << foreign;
  }
}

TEST(HttpText, AnOriginMustBeTheHostItself) {
  EXPECT_TRUE(is_same_origin("http://localhost:9780", "localhost:9780"));
  EXPECT_TRUE(is_same_origin("HTTP://LocalHost:9780", "localhost:9780"));
  for (const auto* foreign : {"", "null", "http://", "https://localhost:9780", "http://localhost",
                              "http://localhost:97800", "http://example.org"}) {
    EXPECT_FALSE(is_same_origin(foreign, "localhost:9780")) << foreign;
  }
}

TEST(HttpText, EncodingsFollowTheirWeights) {
  EXPECT_TRUE(accepted_encodings("gzip, deflate, br").gzip);
  EXPECT_TRUE(accepted_encodings("gzip, deflate, br").brotli);
  EXPECT_FALSE(accepted_encodings("gzip;q=0, br").gzip);
  EXPECT_TRUE(accepted_encodings("*").gzip);
  EXPECT_FALSE(accepted_encodings("gzip;q=0, *").gzip);
  EXPECT_FALSE(accepted_encodings("").gzip);
  EXPECT_FALSE(accepted_encodings("gzip;q=nonsense").gzip);
  EXPECT_TRUE(accepted_encodings("GZIP ; q=0.1").gzip);
}

TEST(HttpText, OpenMetricsIsChosenAsPrometheusAsksForIt) {
  EXPECT_TRUE(prefers_open_metrics(
      "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;"
      "q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"));
  EXPECT_TRUE(prefers_open_metrics(
      "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/"
      "openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,"
      "text/plain;version=0.0.4;q=0.2,*/*;q=0.1"));
  EXPECT_FALSE(prefers_open_metrics("text/plain;version=0.0.4;q=1,*/*;q=0.1"));
  EXPECT_FALSE(prefers_open_metrics("text/html,application/xhtml+xml,*/*;q=0.8"));
  EXPECT_FALSE(prefers_open_metrics("application/openmetrics-text;version=0.0.1"));
  EXPECT_FALSE(prefers_open_metrics("application/openmetrics-text;q=0.1,text/plain;q=0.9"));
  EXPECT_FALSE(prefers_open_metrics("*/*"));
  EXPECT_FALSE(prefers_open_metrics(""));
}

TEST(HttpText, FindsAnEntityTagInAList) {
  EXPECT_TRUE(names_etag("\"a\", W/\"b\"", "\"b\""));
  EXPECT_TRUE(names_etag("*", "\"b\""));
  EXPECT_FALSE(names_etag("\"a\"", "\"b\""));
  EXPECT_FALSE(names_etag("", "\"b\""));
}

}  // namespace
}  // namespace gpusight::serve

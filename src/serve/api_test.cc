#include "serve/api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "config/option.h"
#include "serve/test_gunzip.h"
#include "serve/test_machine.h"

namespace gpusight::serve {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr Asset kAssets[] = {
    {"/assets/index-1a2b.js", "\"aa\"", "let a = 1; // as it is", "packed", "br"},
    {"/index.html", "\"bb\"", "<!doctype html>", "larger than the file", "larger than the file"},
};

class ApiTest : public testing::Test {
 protected:
  Request request(std::string_view target) {
    Request r;
    r.method = "GET";
    r.target = *parse_target(target);
    r.host = "localhost:9780";
    r.host_count = 1;
    return r;
  }
  Response get(std::string_view target) { return api_.handle(request(target)); }
  json get_json(std::string_view target) { return json::parse(get(target).body.bytes); }
  std::string header(const Response& response, std::string_view name) {
    for (const auto& [key, value] : response.headers) {
      if (key == name) return value;
    }
    return "";
  }

  FakeClock clock_;
  sample::SnapshotHub hub_;
  store::EventLog events_;
  Api api_{
      {.hub = &hub_, .events = &events_, .clock = &clock_, .version = "0.1.0", .assets = kAssets}};
};

TEST_F(ApiTest, EveryRouteOfTheTableAnswersAndIsDescribed) {
  const json described = get_json("/api/gpusight/v1/openapi.json");
  for (const Route& route : routes()) {
    const bool is_post = route.methods == Route::Methods::kPost;
    const Response response = get(route.path);
    if (is_post) {
      EXPECT_EQ(response.status, 405u) << route.path;
      EXPECT_FALSE(described["paths"][std::string(route.path)].contains("get"));
      EXPECT_TRUE(described["paths"][std::string(route.path)]["post"].contains("summary"));
      continue;
    }
    const unsigned status = response.work ? response.work({}).status : response.status;
    const bool lacks_parameters = route.path.starts_with("/api/v1/") && status == 400;
    EXPECT_TRUE(status == 200 || status == 503 || status == 426 || lacks_parameters) << route.path;
    EXPECT_TRUE(described["paths"].contains(route.path)) << route.path;
    EXPECT_TRUE(described["paths"][std::string(route.path)]["get"].contains("summary"));
  }
  EXPECT_EQ(described["openapi"], "3.0.3");
  const json values = described["paths"]["/api/v1/label/{name}/values"];
  EXPECT_EQ(values["get"]["parameters"][0]["in"], "path");
  EXPECT_EQ(values["get"]["parameters"][0]["name"], "name");
  EXPECT_FALSE(values.contains("post"));
  EXPECT_TRUE(described["paths"]["/api/v1/query"]["post"]["requestBody"]["content"]
                       ["application/x-www-form-urlencoded"]["schema"]["properties"]
                           .contains("query"));
  EXPECT_EQ(described["paths"]["/api/gpusight/v1/events"]["get"]["parameters"].size(), 5u);
}

TEST_F(ApiTest, APathMayNameAPart) {
  const Route* route = find_route("/api/v1/label/__name__/values");
  ASSERT_NE(route, nullptr);
  EXPECT_EQ(path_argument(*route, "/api/v1/label/__name__/values"), "__name__");
  EXPECT_EQ(path_argument(*route, "/api/v1/label//values"), "");
  for (const auto* path : {"/api/v1/label/a/b/values", "/api/v1/label/values", "/api/v1/label/",
                           "/api/v1/label/a/values/", "/api/v1/query/"}) {
    EXPECT_EQ(find_route(path), nullptr) << path;
  }
}

TEST_F(ApiTest, ReadinessWaitsForEverySourceButNotForOneThatHangs) {
  model::SourceStatus nvml{.name = "nvml", .phase = model::SourcePhase::kStarting};
  const model::SourceStatus host{.name = "host", .phase = model::SourcePhase::kRunning};
  hub_.publish(snapshot_of({.sequence = 1, .gpus = 0, .sources = {host, nvml}}));
  EXPECT_EQ(get("/readyz").status, 503u);
  hub_.publish(snapshot_of({.sequence = 11, .gpus = 0, .sources = {host, nvml}}));
  EXPECT_EQ(get("/readyz").status, 200u);
  nvml.phase = model::SourcePhase::kAbsent;
  hub_.publish(snapshot_of({.sequence = 2, .gpus = 0, .sources = {host, nvml}}));
  EXPECT_EQ(get("/readyz").status, 200u);
}

// FAULT-040
TEST_F(ApiTest, HealthDoesNotDependOnReadingsReadinessDoes) {
  EXPECT_EQ(get("/healthz").status, 200u);
  EXPECT_EQ(get("/readyz").status, 503u);
  hub_.publish(snapshot_of({}));
  EXPECT_EQ(get("/readyz").status, 200u);
  clock_.advance(std::chrono::hours(2));  // sampling stands since long
  EXPECT_EQ(get("/healthz").status, 200u);
}

TEST_F(ApiTest, MetricsSpeakTheFormatThatIsPreferred) {
  hub_.publish(snapshot_of({}));
  Request r = request("/metrics?collect[]=gpu");
  EXPECT_EQ(api_.handle(r).content_type, "text/plain; version=0.0.4; charset=utf-8");
  r.accept = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5";
  const Response response = api_.handle(r);
  EXPECT_THAT(std::string(response.content_type), HasSubstr("openmetrics"));
  EXPECT_THAT(std::string(response.body.bytes), HasSubstr("# EOF"));
}

TEST_F(ApiTest, MetricsAreMadeOncePerSnapshotInBothForms) {
  hub_.publish(snapshot_of({}));
  Request r = request("/metrics");
  const auto plain = api_.handle(r).body.owner;
  EXPECT_EQ(api_.handle(r).body.owner, plain);
  r.accept_encoding = "gzip";
  const Response packed = api_.handle(r);
  EXPECT_EQ(header(packed, "Content-Encoding"), "gzip");
  EXPECT_EQ(gunzip(packed.body.bytes), *plain);
  EXPECT_EQ(api_.handle(r).body.owner, packed.body.owner);
  hub_.publish(snapshot_of({.sequence = 2, .power = 5}));
  EXPECT_THAT(gunzip(api_.handle(r).body.bytes), HasSubstr("gpu_power_watts{uuid=\"GPU-0\"} 5\n"));
}

TEST_F(ApiTest, MetricsSpeakUnderTheNamesThatAreAskedForInPlainTextWhateverIsPreferred) {
  hub_.publish(nvidia_machine());
  Request r = request("/metrics?names=dcgm");
  r.accept = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5";
  Response response = api_.handle(r);
  EXPECT_EQ(response.content_type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_THAT(std::string(response.body.bytes), HasSubstr("DCGM_FI_DEV_GPU_TEMP{gpu=\"0\""));
  EXPECT_THAT(std::string(response.body.bytes), Not(HasSubstr("gpu_temperature_celsius")));
  r.accept_encoding = "gzip";
  const Response packed = api_.handle(r);
  EXPECT_EQ(gunzip(packed.body.bytes), response.body.bytes);
  for (const auto* several : {"/metrics?names=gpusight,dcgm46,nvidia_smi",
                              "/metrics?names=nvidia_smi&names=dcgm46&names=gpusight"}) {
    const std::string text(get(several).body.bytes);
    for (const auto* family : {"gpu_temperature_celsius{", "DCGM_FI_DEV_GPU_TEMP_CELSIUS{",
                               "nvidia_smi_temperature_gpu{uuid=\"0\"}"}) {
      EXPECT_THAT(text, HasSubstr(family)) << several;
    }
  }
  r = request("/metrics?names=gpusight");
  r.accept = "application/openmetrics-text;version=1.0.0";
  EXPECT_THAT(std::string(api_.handle(r).body.bytes), HasSubstr("# EOF"));
}

TEST_F(ApiTest, EveryCombinationOfNamesIsMadeOncePerSnapshot) {
  hub_.publish(nvidia_machine());
  const auto dcgm = get("/metrics?names=dcgm").body.owner;
  const auto smi = get("/metrics?names=nvidia_smi").body.owner;
  EXPECT_NE(dcgm, smi);
  EXPECT_NE(get("/metrics").body.owner, dcgm);
  EXPECT_EQ(get("/metrics?names=dcgm").body.owner, dcgm);
  EXPECT_EQ(get("/metrics?names=nvidia_smi").body.owner, smi);
  EXPECT_EQ(get("/metrics?names=dcgm,nvidia_smi").body.owner,
            get("/metrics?names=nvidia_smi,dcgm").body.owner);
}

TEST_F(ApiTest, NamesThatThereAreNotAreRefusedWithTheListOfThoseThereAre) {
  hub_.publish(nvidia_machine());
  for (const auto* target : {"/metrics?names=prometheus", "/metrics?names=", "/metrics?names=dcgm,",
                             "/metrics?names=dcgm&names=x"}) {
    const Response response = get(target);
    EXPECT_EQ(response.status, 400u) << target;
    const json body = json::parse(response.body.bytes);
    EXPECT_EQ(body["error"]["code"], "bad_parameter");
    EXPECT_THAT(std::string(body["error"]["message"]),
                HasSubstr("gpusight, dcgm, dcgm46, nvidia_smi"));
  }
  // What others send along is still passed over.
  EXPECT_EQ(get("/metrics?collect[]=gpu&name=dcgm").status, 200u);
}

TEST_F(ApiTest, TheUsualNamesAreThoseOfTheConfiguration) {
  hub_.publish(nvidia_machine());
  Api api({.hub = &hub_,
           .events = &events_,
           .clock = &clock_,
           .version = "0.1.0",
           .assets = kAssets,
           .metrics_names = prometheus::NameSet::kNvidiaSmi});
  EXPECT_THAT(std::string(api.handle(request("/metrics")).body.bytes),
              HasSubstr("nvidia_smi_temperature_gpu{"));
  EXPECT_THAT(std::string(api.handle(request("/metrics?names=gpusight")).body.bytes),
              HasSubstr("gpu_temperature_celsius{"));
}

TEST_F(ApiTest, TheOptionKnowsEveryNameThereIs) {
  std::string keys;
  for (size_t i = 0; i < prometheus::kNameSetCount; ++i) {
    const auto set = static_cast<prometheus::NameSet>(i);
    keys.append(i > 0 ? " " : "").append(prometheus::name_set_key(set));
  }
  EXPECT_EQ(config::option(config::OptionId::kMetricsNames).choices, keys);
}

// FAULT-128, FAULT-135
TEST_F(ApiTest, ProcessesUnderOtherNamesAreShownToThoseWhoMaySeeThem) {
  hub_.publish(nvidia_machine({process_of(1000, "train")}));
  EXPECT_THAT(std::string(get("/metrics?names=nvidia_smi").body.bytes), Not(HasSubstr("train")));
  Request own = request("/metrics?names=nvidia_smi");
  own.caller = {.identity = model::LocalUser{1000}, .role = model::Role::kOwn};
  EXPECT_THAT(std::string(api_.handle(own).body.bytes), HasSubstr("process_name=\"train\""));
  own.caller.identity = model::LocalUser{1001};
  EXPECT_THAT(std::string(api_.handle(own).body.bytes), Not(HasSubstr("train")));
  // And what they saw is kept for nobody else.
  EXPECT_THAT(std::string(get("/metrics?names=nvidia_smi").body.bytes), Not(HasSubstr("train")));
}

// FAULT-041
TEST_F(ApiTest, MetricsAreWithdrawnWhenSamplingStands) {
  hub_.publish(snapshot_of({.mono = clock_.mono()}));
  EXPECT_THAT(std::string(get("/metrics").body.bytes), HasSubstr("gpu_power_watts{"));
  clock_.advance(std::chrono::seconds(11));
  EXPECT_THAT(std::string(get("/metrics").body.bytes), Not(HasSubstr("gpu_power_watts{")));
  EXPECT_THAT(std::string(get("/metrics").body.bytes), HasSubstr("gpu_info{"));
}

// FAULT-128, FAULT-135
TEST_F(ApiTest, AStrangerIsShownNoProcessOfAnyone) {
  hub_.publish(snapshot_of({.processes = {process_of(1000, "train --password=abc")}}));
  for (const Route& route : routes()) {
    EXPECT_THAT(std::string(get(route.path).body.bytes), Not(HasSubstr("password"))) << route.path;
  }
  Request own = request("/api/gpusight/v1/snapshot");
  own.caller = {.identity = model::LocalUser{1000}, .role = model::Role::kOwn};
  EXPECT_THAT(std::string(api_.handle(own).body.bytes), HasSubstr("train"));
  own.caller.identity = model::LocalUser{1001};
  EXPECT_THAT(std::string(api_.handle(own).body.bytes), Not(HasSubstr("train")));
}

// FAULT-101, FAULT-133
TEST_F(ApiTest, DevicesAreReleasedByAdminsAlone) {
  std::vector<Duration> told;
  Api api({.hub = &hub_,
           .events = &events_,
           .clock = &clock_,
           .version = "1.2.3",
           .release = [&](Duration how_long) {
             told.push_back(how_long);
             return clock_.wall() + how_long;
           }});
  Request r = request("/api/gpusight/v1/release?for=90.5");
  r.method = "POST";
  EXPECT_EQ(api.handle(r).status, 403u);
  r.caller = {.identity = model::LocalUser{1000}, .role = model::Role::kOwn};
  EXPECT_EQ(api.handle(r).status, 403u);
  EXPECT_TRUE(told.empty());
  r.caller = {.identity = model::LocalUser{0}, .role = model::Role::kAdmin};
  const Response done = api.handle(r);
  EXPECT_EQ(done.status, 200u);
  EXPECT_EQ(told, std::vector<Duration>{std::chrono::milliseconds(90500)});
  EXPECT_THAT(std::string(done.body.bytes), HasSubstr("{\"until\":"));
  r.target = *parse_target("/api/gpusight/v1/release?for=0");
  EXPECT_EQ(std::string(api.handle(r).body.bytes), "{\"until\":null}");
  for (const char* target :
       {"", "?for=", "?for=-1", "?for=86401", "?for=nan", "?for=1&for=2", "?until=1"}) {
    r.target = *parse_target(std::string("/api/gpusight/v1/release") + target);
    EXPECT_EQ(api.handle(r).status, 400u) << target;
  }
  r.target = *parse_target("/api/gpusight/v1/release");
  r.content_type = "application/x-www-form-urlencoded";
  r.body = "for=5";
  EXPECT_EQ(api.handle(r).status, 200u);
  r.content_type = "application/json";
  EXPECT_EQ(api.handle(r).status, 400u);
  EXPECT_EQ(told.size(), 3u);
  r.content_type = "application/x-www-form-urlencoded";
  r.has_origin = true;  // even of the daemon's own page
  r.origin = "http://localhost:9780";
  EXPECT_EQ(api.handle(r).status, 403u);
  EXPECT_EQ(told.size(), 3u);
  r.has_origin = false;
  r.method = "GET";
  const Response refusal = api.handle(r);
  EXPECT_EQ(refusal.status, 405u);
  EXPECT_EQ(refusal.headers.back(), (std::pair<std::string_view, std::string>("Allow", "POST")));
}

TEST_F(ApiTest, AProcessTellsOfItselfOnTheUnixSocketOnly) {
  std::vector<std::pair<int64_t, std::string>> told;
  Status answer;
  Api api({.hub = &hub_,
           .events = &events_,
           .clock = &clock_,
           .tell = [&](const model::LocalUser& sender, std::string_view lines) {
             told.emplace_back(sender.pid, lines);
             return answer;
           }});
  Request r = request("/api/gpusight/v1/framework");
  r.method = "POST";
  r.body = "{}";
  EXPECT_EQ(api.handle(r).status, 403u) << "a stranger on loopback";
  r.caller = {.identity = model::LocalUser{.uid = 1000, .pid = 77}, .role = model::Role::kOwn};
  r.has_origin = true;
  r.origin = "http://localhost:9780";
  EXPECT_EQ(api.handle(r).status, 403u) << "a page";
  r.has_origin = false;
  EXPECT_TRUE(told.empty());
  EXPECT_EQ(api.handle(r).status, 200u);
  EXPECT_EQ(told, (std::vector<std::pair<int64_t, std::string>>{{77, "{}"}}));
  for (const auto& [code, status] : {std::pair{Code::kInvalidArgument, 400u},
                                     {Code::kNotFound, 404u},
                                     {Code::kExhausted, 429u}}) {
    answer = Status(code, "what is wrong");
    EXPECT_EQ(api.handle(r).status, status);
    EXPECT_THAT(std::string(api.handle(r).body.bytes), HasSubstr("what is wrong"));
  }
  EXPECT_EQ(api_.handle(r).status, 404u) << "where nobody listens";
}

// FAULT-130
TEST_F(ApiTest, HostileNamesAreTextInJson) {
  const std::string name = "<img src=x onerror=\"alert(1)\">\n";
  hub_.publish(snapshot_of({.host_name = name}));
  EXPECT_EQ(get_json("/api/gpusight/v1/snapshot")["host"]["name"], name);
}

// FAULT-128
TEST_F(ApiTest, ForeignHostsAreMisdirected) {
  for (const auto* host : {"example.org", "example.org:9780", "", "10.0.0.1"}) {
    Request r = request("/healthz");
    r.host = host;
    EXPECT_EQ(api_.handle(r).status, 421u) << host;
    r.is_local_socket = true;
    EXPECT_EQ(api_.handle(r).status, 200u) << host;
  }
  Request r = request("/healthz");
  r.host_count = 2;
  EXPECT_EQ(api_.handle(r).status, 400u);
  r.host_count = 0;
  EXPECT_EQ(api_.handle(r).status, 421u);
}

TEST_F(ApiTest, PagesOfOtherSitesGetNothing) {
  Request r = request("/api/gpusight/v1/live");
  r.is_upgrade = true;
  EXPECT_EQ(api_.handle(r).status, 101u);
  r.has_origin = true;
  r.origin = "http://example.org";
  EXPECT_EQ(api_.handle(r).status, 403u);
  r.origin = "";
  EXPECT_EQ(api_.handle(r).status, 403u);
  r.origin = "http://localhost:9780";
  EXPECT_EQ(api_.handle(r).status, 101u);
  r.is_upgrade = false;
  EXPECT_EQ(api_.handle(r).status, 426u);
  for (const auto* path : {"/api/gpusight/v1/snapshot", "/metrics", "/"}) {
    r = request(path);
    r.has_origin = true;
    r.origin = "http://localhost:9780";
    EXPECT_EQ(api_.handle(r).status, 200u) << path;
    for (const auto* origin : {"http://example.org", "http://localhost:9781", "null"}) {
      r.origin = origin;
      EXPECT_EQ(api_.handle(r).status, 403u) << path << " " << origin;
    }
    r.is_local_socket = true;  // where no browser comes from
    EXPECT_EQ(api_.handle(r).status, 200u) << path;
  }
}

TEST_F(ApiTest, UnknownPathsAndMethodsAreTold) {
  for (const auto* path :
       {"/nothing", "/api/gpusight/v1/", "/assets/../index.html", "//", "/%2e"}) {
    EXPECT_EQ(get(path).status, 404u) << path;
  }
  EXPECT_EQ(get_json("/nothing")["error"]["code"], "not_found");
  for (const auto* path : {"/", "/metrics", "/assets/index-1a2b.js"}) {
    Request r = request(path);
    r.method = "DELETE";
    const Response response = api_.handle(r);
    EXPECT_EQ(response.status, 405u);
    EXPECT_EQ(header(response, "Allow"), "GET, HEAD");
  }
}

TEST_F(ApiTest, AWrongParameterIsNamed) {
  const auto complaint = [this](std::string_view query) {
    const Response r = get("/api/gpusight/v1/events?" + std::string(query));
    EXPECT_EQ(r.status, 400u) << query;
    return json::parse(r.body.bytes)["error"]["message"].get<std::string>();
  };
  EXPECT_EQ(complaint("form=1"), "parameter form: there is none of this name");
  EXPECT_EQ(complaint("from=yesterday"), "parameter from: not a time in Unix seconds");
  EXPECT_EQ(complaint("from=nan"), "parameter from: not a time in Unix seconds");
  EXPECT_EQ(complaint("to=-1"), "parameter to: not a time in Unix seconds");
  EXPECT_EQ(complaint("to=1e300"), "parameter to: not a time in Unix seconds");
  EXPECT_EQ(complaint("from=2&to=1"), "parameter from: later than to");
  EXPECT_EQ(complaint("kind=explosion"), "parameter kind: not a kind of event");
  EXPECT_EQ(complaint("limit=0"), "parameter limit: not a whole number from 1 to 10000");
  EXPECT_EQ(complaint("limit=10001"), "parameter limit: not a whole number from 1 to 10000");
  EXPECT_EQ(complaint("uuid=a&uuid=b"), "parameter uuid: given twice");
  EXPECT_EQ(get("/api/gpusight/v1/snapshot?x=1").status, 400u);
}

TEST_F(ApiTest, EventsAreFilteredAndLimitedToWhatTheCallerMaySee) {
  const auto add = [this](catalog::EventKind kind, int64_t second, std::string uuid) {
    model::Event event{.wall = WallTime(std::chrono::seconds(second)), .kind = kind};
    event.uuid = std::move(uuid);
    events_.append(event);
  };
  add(catalog::EventKind::kDeviceLost, 100, "GPU-0");
  add(catalog::EventKind::kDeviceBack, 200, "GPU-0");
  add(catalog::EventKind::kXid, 300, "GPU-1");
  for (int i = 0; i < 5; ++i) add(catalog::EventKind::kProcessStart, 400, "GPU-0");
  const auto ids = [this](std::string_view query) {
    std::vector<int> found;
    const json events = get_json("/api/gpusight/v1/events" + std::string(query))["events"];
    for (const json& event : events) found.push_back(event["id"]);
    return found;
  };
  EXPECT_EQ(ids(""), (std::vector{1, 2, 3}));
  EXPECT_EQ(ids("?limit=2"), (std::vector{2, 3}));
  EXPECT_EQ(ids("?from=150&to=250.5"), (std::vector{2}));
  EXPECT_EQ(ids("?kind=xid"), (std::vector{3}));
  EXPECT_EQ(ids("?uuid=GPU-0"), (std::vector{1, 2}));
  Request admin = request("/api/gpusight/v1/events");
  admin.caller = {.identity = model::LocalUser{0}, .role = model::Role::kAdmin};
  EXPECT_EQ(json::parse(api_.handle(admin).body.bytes)["events"].size(), 8u);
}

TEST_F(ApiTest, ThePageIsServedAsTheBrowserCanTakeIt) {
  Request r = request("/assets/index-1a2b.js");
  EXPECT_EQ(api_.handle(r).body.bytes, "let a = 1; // as it is");
  EXPECT_EQ(header(api_.handle(r), "Cache-Control"), "public, max-age=31536000, immutable");
  r.accept_encoding = "gzip, deflate, br";
  EXPECT_EQ(api_.handle(r).body.bytes, "br");
  EXPECT_EQ(header(api_.handle(r), "Content-Encoding"), "br");
  r.accept_encoding = "gzip";
  EXPECT_EQ(api_.handle(r).body.bytes, "packed");
  r.if_none_match = "\"aa\"";
  EXPECT_EQ(api_.handle(r).status, 304u);
  Request index = request("/");
  index.accept_encoding = "br";
  EXPECT_EQ(api_.handle(index).body.bytes, "<!doctype html>");  // packing did not make it smaller
  EXPECT_EQ(header(api_.handle(index), "Cache-Control"), "no-cache");
  EXPECT_EQ(api_.handle(index).content_type, "text/html; charset=utf-8");
}

TEST_F(ApiTest, WithoutAPageTheRootSaysSo) {
  Api bare({.hub = &hub_, .clock = &clock_, .version = "0.1.0"});
  const Response response = bare.handle(request("/"));
  EXPECT_EQ(response.status, 200u);
  EXPECT_THAT(std::string(response.body.bytes), HasSubstr("built without its page"));
  EXPECT_EQ(json::parse(bare.handle(request("/api/gpusight/v1/events")).body.bytes),
            json::parse("{\"events\":[]}"));
}

TEST_F(ApiTest, LargeDocumentsAreCompressedForThoseWhoAsk) {
  hub_.publish(snapshot_of({.gpus = 8}));
  Request r = request("/api/gpusight/v1/snapshot");
  const std::string plain(api_.handle(r).body.bytes);
  r.accept_encoding = "gzip";
  EXPECT_EQ(gunzip(api_.handle(r).body.bytes), plain);
  Request catalog = request("/api/gpusight/v1/catalog");
  const std::string text(api_.handle(catalog).body.bytes);
  catalog.accept_encoding = "gzip";
  EXPECT_EQ(gunzip(api_.handle(catalog).body.bytes), text);
  EXPECT_EQ(json::parse(text)["schema"], 1);
}

TEST(HttpMessage, EveryResponseCarriesTheSafetyHeaders) {
  const std::string head = response_head({.headers = {{"X-Own", "1"}}, .body = Body::of("ab")},
                                         http_date(1767225600), AfterResponse::kKeepOpen);
  EXPECT_THAT(head, testing::StartsWith("HTTP/1.1 200 OK\r\n"));
  for (const auto* line :
       {"Date: Thu, 01 Jan 2026 00:00:00 GMT\r\n", "Content-Length: 2\r\n", "X-Own: 1\r\n",
        "default-src 'none'; script-src 'self'; style-src 'self'", "frame-ancestors 'none'",
        "X-Content-Type-Options: nosniff\r\n", "Referrer-Policy: no-referrer\r\n",
        "Cross-Origin-Opener-Policy: same-origin\r\n",
        "Cross-Origin-Resource-Policy: same-origin\r\n", "Connection: keep-alive\r\n\r\n"}) {
    EXPECT_THAT(head, HasSubstr(line));
  }
  EXPECT_THAT(head, Not(HasSubstr("Access-Control")));
  EXPECT_THAT(response_head({.status = 304}, "", AfterResponse::kClose),
              Not(HasSubstr("Content-Length")));
}

}  // namespace
}  // namespace gpusight::serve

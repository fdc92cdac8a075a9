#include "promql/rules/rule_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace gpusight::promql {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const model::Labels kLabels = {{"host", "gpu-07:9400"}, {"job", "node"}};
const model::Labels kExternal = {{"region", "eu"}};

Result<Vector> three_samples(std::string_view expression) {
  if (expression == "nothing") return Vector{};
  if (expression != "up") {
    return Status(Code::kInvalidArgument, "1:1: parse error: no such thing");
  }
  return Vector{{.labels = {{"__name__", "up"}, {"host", "b"}}, .point = {.value = 2}},
                {.labels = {{"__name__", "up"}, {"host", "c"}}, .point = {.value = 0.5}},
                {.labels = {{"__name__", "up"}, {"host", "a"}}, .point = {.value = 1}}};
}

Result<std::string> try_expand(std::string_view text, double value = 2.5) {
  Result<RuleTemplate> made = RuleTemplate::parse(text, "t");
  if (!made.ok()) return made.status();
  return made->expand({.labels = kLabels,
                       .value = value,
                       .external_labels = kExternal,
                       .external_url = "http://monitor.example:9090/prometheus",
                       .time_ms = 1'500,
                       .query = three_samples});
}

std::string expand(std::string_view text, double value = 2.5) {
  Result<std::string> expanded = try_expand(text, value);
  EXPECT_TRUE(expanded.ok()) << text << ": " << expanded.status().message();
  return expanded.ok() ? *expanded : "";
}

std::string error_of(std::string_view text) {
  Result<std::string> expanded = try_expand(text);
  EXPECT_FALSE(expanded.ok()) << text << " gave " << (expanded.ok() ? *expanded : "");
  return expanded.status().message();
}

TEST(RuleTemplate, TextWithoutActionsStays) {
  EXPECT_EQ(expand(""), "");
  EXPECT_EQ(expand("plain } text { }} as it is"), "plain } text { }} as it is");
}

TEST(RuleTemplate, KnowsTheAlert) {
  EXPECT_EQ(expand("{{ $labels.job }}/{{ .Labels.job }}"), "node/node");
  EXPECT_EQ(expand("{{ $value }} {{ .Value }}"), "2.5 2.5");
  EXPECT_EQ(expand("{{ $externalLabels.region }}{{ .ExternalLabels.region }}"), "eueu");
  EXPECT_EQ(expand("{{ $externalURL }}"), "http://monitor.example:9090/prometheus");
  EXPECT_EQ(expand("{{ $.Labels.host }}"), "gpu-07:9400");
  EXPECT_EQ(expand("{{ externalURL }} {{ pathPrefix }}"),
            "http://monitor.example:9090/prometheus /prometheus");
  EXPECT_EQ(expand("{{ now }}"), "1.5");
}

TEST(RuleTemplate, ALabelThatIsNotThereIsEmpty) {
  EXPECT_EQ(expand("<{{ $labels.nowhere }}>"), "<>");
  EXPECT_EQ(expand("{{ if $labels.nowhere }}yes{{ else }}no{{ end }}"), "no");
}

TEST(RuleTemplate, NumbersAreWrittenAsGoWritesThem) {
  EXPECT_EQ(expand("{{ $value }}", 1'000'000), "1e+06");
  EXPECT_EQ(expand("{{ $value }}", 123'456), "123456");
  EXPECT_EQ(expand("{{ $value }}", 1'234'567), "1.234567e+06");
  EXPECT_EQ(expand("{{ $value }}", 0.0001), "0.0001");
  EXPECT_EQ(expand("{{ $value }}", 0.00001), "1e-05");
  EXPECT_EQ(expand("{{ $value }}", -0.5), "-0.5");
  EXPECT_EQ(expand("{{ $value }}", std::numeric_limits<double>::infinity()), "+Inf");
  EXPECT_EQ(expand("{{ $value }}", std::numeric_limits<double>::quiet_NaN()), "NaN");
}

TEST(RuleTemplate, TrimMarksTakeBlanksAway) {
  EXPECT_EQ(expand("a  {{- $labels.job -}}  \n b"), "anodeb");
  EXPECT_EQ(expand("a {{ $labels.job -}}\n\tb"), "a nodeb");
  EXPECT_EQ(expand("a {{- 3 }}"), "a3");
  EXPECT_EQ(expand("a {{-3}}"), "a -3");
}

TEST(RuleTemplate, CommentsLeaveNothing) {
  EXPECT_EQ(expand("a{{/* a }} comment */}}b"), "ab");
  EXPECT_EQ(expand("a {{- /* trimmed */ -}} b"), "ab");
}

TEST(RuleTemplate, Conditions) {
  const char* text =
      "{{ if gt $value 10.0 }}high{{ else if gt $value 2.0 }}middle{{ else }}low{{ end }}";
  EXPECT_EQ(expand(text, 11), "high");
  EXPECT_EQ(expand(text, 3), "middle");
  EXPECT_EQ(expand(text, 1), "low");
  EXPECT_EQ(expand("{{ if and (eq $labels.job \"node\") (not false) }}x{{ end }}"), "x");
  EXPECT_EQ(expand("{{ if or 0 \"\" false }}x{{ else }}y{{ end }}"), "y");
}

TEST(RuleTemplate, ComparesOnlyWhatIsAlike) {
  EXPECT_EQ(expand("{{ eq 1 2 3 1 }} {{ ne \"a\" \"b\" }} {{ lt 1.5 2.5 }} {{ ge 2 2 }} {{ le "
                   "\"b\" \"a\" }}"),
            "true true true true false");
  EXPECT_THAT(error_of("{{ if gt $value 10 }}x{{ end }}"),
              HasSubstr("error calling gt: incompatible types for comparison"));
}

TEST(RuleTemplate, AndAndOrGiveTheArgumentThatDecides) {
  EXPECT_EQ(expand("{{ and 1 0 2 }} {{ and 1 2 }} {{ or 0 \"x\" 3 }} {{ or 0 \"\" }}"), "0 2 x ");
  // What is not needed is not looked at.
  EXPECT_EQ(expand("{{ or true (first (query \"nothing\")) }}"), "true");
}

TEST(RuleTemplate, WithSetsTheDot) {
  EXPECT_EQ(expand("{{ with $labels.job }}<{{ . }}>{{ else }}none{{ end }}"), "<node>");
  EXPECT_EQ(expand("{{ with $labels.rack }}<{{ . }}>{{ else }}none{{ end }}"), "none");
  EXPECT_EQ(expand("{{ with $x := \"v\" }}{{ $x }}{{ . }}{{ end }}"), "vv");
}

TEST(RuleTemplate, RangeOverAQuery) {
  EXPECT_EQ(expand("{{ range query \"up\" }}{{ .Labels.host }}={{ .Value }} {{ end }}"),
            "b=2 c=0.5 a=1 ");
  EXPECT_EQ(
      expand("{{ range query \"up\" | sortByLabel \"host\" }}{{ label \"host\" . }}{{ end }}"),
      "abc");
  EXPECT_EQ(expand("{{ range query \"nothing\" }}x{{ else }}none{{ end }}"), "none");
  EXPECT_EQ(
      expand("{{ range $i, $s := query \"up\" }}{{ if $i }}, {{ end }}{{ $s | value }}{{ end }}"),
      "2, 0.5, 1");
  EXPECT_EQ(
      expand("{{ range $s := query \"up\" }}{{ $s.Labels.host }}{{ $.Labels.job }} {{ end }}"),
      "bnode cnode anode ");
}

TEST(RuleTemplate, RangeOverLabelsIsInOrder) {
  EXPECT_EQ(expand("{{ range $k, $v := $labels }}{{ $k }}:{{ $v }} {{ end }}"),
            "host:gpu-07:9400 job:node ");
}

TEST(RuleTemplate, LoopsCanBeLeft) {
  EXPECT_EQ(expand("{{ range query \"up\" }}{{ if eq .Value 0.5 }}{{ break }}{{ end }}{{ .Value }} "
                   "{{ end }}"),
            "2 ");
  EXPECT_EQ(expand("{{ range query \"up\" }}{{ if eq .Value 0.5 }}{{ continue }}{{ end }}{{ .Value "
                   "}} {{ end }}"),
            "2 1 ");
}

TEST(RuleTemplate, VariablesKeepWhatTheyWereGiven) {
  EXPECT_EQ(expand("{{ $x := 1 }}{{ if true }}{{ $x = 2 }}{{ $y := 3 }}{{ $y }}{{ end }}{{ $x }}"),
            "32");
  EXPECT_EQ(expand("{{ $x := 1 }}{{ if true }}{{ $x := 2 }}{{ $x }}{{ end }}{{ $x }}"), "21");
  EXPECT_EQ(expand("{{ $n := 0 }}{{ range query \"up\" }}{{ $n = .Value }}{{ end }}{{ $n }}"), "1");
}

TEST(RuleTemplate, PipelinesGiveTheLastArgument) {
  EXPECT_EQ(expand("{{ query \"up\" | first | value }}"), "2");
  EXPECT_EQ(expand("{{ query \"up\" | first | label \"host\" }}"), "b");
  EXPECT_EQ(expand("{{ $value | printf \"%.2f%s\" | printf \"%s!\" }}"), "2.50%!s(MISSING)!");
  EXPECT_EQ(expand("{{ (query \"up\" | first).Labels.host }}"), "b");
  EXPECT_EQ(expand("{{ index (query \"up\") 1 | value }} {{ len (query \"up\") }}"), "0.5 3");
  EXPECT_EQ(expand("{{ index $labels \"job\" }}"), "node");
}

TEST(RuleTemplate, Printf) {
  EXPECT_EQ(
      expand("{{ printf \"%f %.1f %e %g %6.2f|%-8.3g|%+d %05d %x %q %v %t %%\" 1.5 2.25 1e6 0.1 "
             "3.14159 2.0 3 42 255 \"a\\\"b\" \"v\" true }}"),
      "1.500000 2.2 1.000000e+06 0.1   3.14|2       |+3 00042 ff \"a\\\"b\" v true %");
  EXPECT_EQ(expand("{{ printf \"%s|%5s|%-5s|%.2s\" \"a\" \"b\" \"c\" \"def\" }}"),
            "a|    b|c    |de");
  EXPECT_EQ(expand("{{ printf \"%d\" $value }}"), "%!d(float64=2.5)");
  EXPECT_EQ(expand("{{ printf \"%s\" 3 }}"), "%!s(int=3)");
  EXPECT_EQ(expand("{{ printf \"x\" 1 \"a\" }}"), "x%!(EXTRA int=1, string=a)");
  EXPECT_EQ(expand("{{ printf \"%\" }}"), "%!(NOVERB)");
  EXPECT_EQ(expand("{{ printf \"%*d\" 5 42 }}"), "   42");
  EXPECT_EQ(expand("{{ printf \"%v\" $labels }}"), "map[host:gpu-07:9400 job:node]");
  EXPECT_EQ(expand("{{ print 1 2 \"a\" \"b\" 3 }}"), "1 2ab3");
}

TEST(RuleTemplate, Humanize) {
  EXPECT_EQ(expand("{{ humanize $value }}", 1'234'567), "1.235M");
  EXPECT_EQ(expand("{{ humanize $value }}", 0), "0");
  EXPECT_EQ(expand("{{ humanize $value }}", 0.0123), "12.3m");
  EXPECT_EQ(expand("{{ humanize $value }}", -1500), "-1.5k");
  EXPECT_EQ(expand("{{ humanize \"22.5e3\" }}"), "22.5k");
  EXPECT_EQ(expand("{{ humanize1024 $value }}", 1'572'864), "1.5Mi");
  EXPECT_EQ(expand("{{ humanize1024 $value }}", 1000), "1000");
  EXPECT_EQ(expand("{{ humanizePercentage $value }}", 0.12345), "12.35%");
  EXPECT_EQ(expand("{{ humanize $value }}", std::numeric_limits<double>::infinity()), "+Inf");
  EXPECT_THAT(
      error_of("{{ humanize \"x\" }}"),
      HasSubstr("error calling humanize: strconv.ParseFloat: parsing \"x\": invalid syntax"));
}

TEST(RuleTemplate, HumanizeDuration) {
  EXPECT_EQ(expand("{{ humanizeDuration $value }}", 0), "0s");
  EXPECT_EQ(expand("{{ humanizeDuration $value }}", 1.5), "1.5s");
  EXPECT_EQ(expand("{{ humanizeDuration $value }}", 60), "1m 0s");
  EXPECT_EQ(expand("{{ humanizeDuration $value }}", 3661), "1h 1m 1s");
  EXPECT_EQ(expand("{{ humanizeDuration $value }}", 90'061), "1d 1h 1m 1s");
  EXPECT_EQ(expand("{{ humanizeDuration $value }}", -60), "-1m 0s");
  EXPECT_EQ(expand("{{ humanizeDuration $value }}", 0.0012), "1.2ms");
}

TEST(RuleTemplate, HumanizeTimestamp) {
  EXPECT_EQ(expand("{{ humanizeTimestamp $value }}", 1'435'065'584.128),
            "2015-06-23 13:19:44.128 +0000 UTC");
  EXPECT_EQ(expand("{{ humanizeTimestamp $value }}", 0), "1970-01-01 00:00:00 +0000 UTC");
  EXPECT_EQ(expand("{{ humanizeTimestamp $value }}", std::numeric_limits<double>::quiet_NaN()),
            "NaN");
  EXPECT_FALSE(try_expand("{{ humanizeTimestamp $value }}", 1e12).ok());
}

TEST(RuleTemplate, Texts) {
  EXPECT_EQ(expand("{{ \"hello world_x-y\" | title }}"), "Hello World_x-Y");
  EXPECT_EQ(expand("{{ toUpper \"a\u00e9\u03c9\u044f1\" }}"), "A\u00c9\u03a9\u042f1");
  EXPECT_EQ(expand("{{ toLower \"A\u00c9\u03a9\u042f1\" }}"), "a\u00e9\u03c9\u044f1");
  EXPECT_EQ(expand("{{ match \"gpu-[0-9]+\" $labels.host }} {{ match \"^x\" $labels.host }}"),
            "true false");
  EXPECT_EQ(expand("{{ reReplaceAll \"(.*):.*\" \"$1\" $labels.host }}"), "gpu-07");
  EXPECT_EQ(expand("{{ reReplaceAll \"x*\" \"-\" \"abxc\" }}"), "-a-b-c-");
  EXPECT_EQ(expand("{{ reReplaceAll \"b\" \"\" \"abc\" }}"), "ac");
  EXPECT_EQ(expand("{{ stripPort $labels.host }} {{ stripDomain \"a.b.c:80\" }} {{ stripDomain "
                   "\"10.0.0.1:80\" }}"),
            "gpu-07 a:80 10.0.0.1:80");
  EXPECT_EQ(expand("{{ graphLink \"up == 0\" }}"), "/graph?g0.expr=up+%3D%3D+0&g0.tab=0");
  EXPECT_EQ(expand("{{ parseDuration \"1h30m\" }}"), "5400");
  EXPECT_EQ(expand("{{ html \"<a&b>\" }} {{ urlquery \"a b\" }} {{ slice \"hello\" 1 3 }}"),
            "&lt;a&amp;b&gt; a+b el");
}

TEST(RuleTemplate, Literals) {
  EXPECT_EQ(expand("{{ \"\\u00e9\\n\\x41\\101\" }}{{ `raw\\n` }}{{ 0x1f }} {{ 1_000 }} {{ 'a' }} "
                   "{{ 017 }} {{ 1e3 }}"),
            "\u00e9\nAAraw\\n31 1000 97 15 1000");
}

TEST(RuleTemplate, WhatDoesNotParseIsSaidInGosWords) {
  EXPECT_EQ(error_of("a\n{{ $labels.x "), "template: t:2: unclosed action");
  EXPECT_EQ(error_of("{{ foo }}"), "template: t:1: function \"foo\" not defined");
  EXPECT_EQ(error_of("{{ $nope }}"), "template: t:1: undefined variable \"$nope\"");
  EXPECT_EQ(error_of("{{ if true }}x"), "template: t:1: unexpected EOF");
  EXPECT_EQ(error_of("{{ end }}"), "template: t:1: unexpected {{end}}");
  EXPECT_EQ(error_of("{{ if }}x{{ end }}"), "template: t:1: missing value for if");
  EXPECT_EQ(error_of("{{ }}"), "template: t:1: missing value for command");
  EXPECT_EQ(error_of("{{ \"a }}"), "template: t:1: unterminated quoted string");
  EXPECT_EQ(error_of("{{/* a"), "template: t:1: unclosed comment");
  EXPECT_EQ(error_of("{{ break }}"), "template: t:1: {{break}} outside {{range}}");
  EXPECT_EQ(error_of("{{ (1 }}"), "template: t:1: unclosed left paren");
  EXPECT_THAT(error_of("{{ define \"x\" }}{{ end }}"), HasSubstr("not supported"));
  EXPECT_THAT(error_of("{{ toTime 3 }}"), HasSubstr("function \"toTime\" not defined"));
  EXPECT_THAT(error_of("{{ $labels.a.b ! }}"), StartsWith("template: t:1: unexpected"));
}

TEST(RuleTemplate, WhatGoesWrongInAnExpansionNamesThePlace) {
  EXPECT_EQ(
      error_of("{{ query \"nothing\" | first }}"),
      "error executing template t: template: t:1:21: executing \"t\" at <first>: error calling "
      "first: first() called on vector with no elements");
  EXPECT_THAT(error_of("{{ query \"!\" }}"),
              HasSubstr("error calling query: 1:1: parse error: no such thing"));
  EXPECT_THAT(error_of("{{ .Nope }}"), HasSubstr("can't evaluate field Nope"));
  EXPECT_THAT(error_of("{{ $value.x }}"), HasSubstr("can't evaluate field x in type float64"));
  EXPECT_THAT(error_of("{{ first }}"), HasSubstr("wrong number of args for first: want 1 got 0"));
  EXPECT_THAT(error_of("{{ reReplaceAll \"(\" \"\" \"\" }}"), HasSubstr("error parsing regexp"));
  EXPECT_THAT(error_of("{{ range $value }}{{ end }}"), HasSubstr("range can't iterate over 2.5"));
  EXPECT_THAT(error_of("{{ index (query \"up\") 9 }}"), HasSubstr("index out of range: 9"));
}

TEST(RuleTemplate, HostileTemplatesEnd) {
  std::string deep;
  for (int i = 0; i < 4'000; ++i) deep += "{{ if true }}";
  EXPECT_THAT(error_of(deep), HasSubstr("nested too deeply"));
  EXPECT_THAT(error_of("{{ " + std::string(10'000, '(') + "}}"), HasSubstr("nested too deeply"));
  std::string chain = "{{ if true }}";
  for (int i = 0; i < 1'000; ++i) chain += "{{ else if true }}";
  EXPECT_THAT(error_of(chain + "{{ end }}"), HasSubstr("nested too deeply"));
  EXPECT_THAT(error_of(std::string(kMaxTemplateLength + 1, 'x')), HasSubstr("longer than"));
  EXPECT_THAT(error_of("{{ range 100000000 }}{{ end }}"), HasSubstr("steps"));
  EXPECT_THAT(error_of("{{ range 9999 }}{{ printf \"%900d\" 1 }}{{ end }}"), HasSubstr("bytes"));
  EXPECT_THAT(error_of("{{ range 9999 }}{{ range 9999 }}{{ end }}{{ end }}"), HasSubstr("steps"));
}

TEST(RuleTemplate, TextsThatGrowFromOneVariableToTheNextEnd) {
  const std::string start = "{{ $x := printf \"%900d\" 1 }}";
  std::string doubled = start;
  for (int i = 0; i < 60; ++i) doubled += "{{ $x = print $x $x }}";
  EXPECT_THAT(error_of(doubled), HasSubstr("bytes"));
  std::string many = "{{ $x = print";
  for (int i = 0; i < 2'000; ++i) many += " $x";
  EXPECT_THAT(error_of(start + many + " }}"), HasSubstr("bytes"));
  std::string kept = start + "{{ $x = print $x $x $x $x }}";
  for (int i = 0; i < 100; ++i) kept += "{{ $y" + std::to_string(i) + " := $x }}";
  EXPECT_THAT(error_of(kept), HasSubstr("bytes"));
  EXPECT_THAT(error_of(start + "{{ reReplaceAll \"\" $x $x }}"), HasSubstr("bytes"));
  std::string groups = "{{ reReplaceAll \"(.*)\" \"";
  for (int i = 0; i < 2'000; ++i) groups += "$1";
  EXPECT_THAT(error_of(start + groups + "\" $x }}"), HasSubstr("bytes"));
}

TEST(RuleTemplate, WithoutAnythingToQueryItSaysSo) {
  Result<RuleTemplate> made = RuleTemplate::parse("{{ query \"up\" }}", "t");
  ASSERT_TRUE(made.ok());
  const model::Labels none;
  Result<std::string> expanded =
      made->expand({.labels = none, .external_labels = none, .external_url = ""});
  EXPECT_THAT(expanded.status().message(), HasSubstr("there is nothing to query here"));
}

}  // namespace
}  // namespace gpusight::promql

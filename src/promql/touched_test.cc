#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "promql/parser.h"

namespace gpusight::promql {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Touched touched(std::string_view query) {
  const Result<ExprPtr> expr = parse(query);
  EXPECT_TRUE(expr.ok()) << expr.status().message();
  return touched_by(**expr);
}

TEST(Touched, NamesMetricsOnceAndInOrder) {
  const Touched found = touched("rate(z[5m]) + a / sum(z) + {\"u.n\"} + {__name__='b', x='y'}");
  EXPECT_THAT(found.metrics, ElementsAre("a", "b", "u.n", "z"));
  EXPECT_THAT(found.labels, ElementsAre("x"));
  EXPECT_FALSE(found.any_metric);
}

TEST(Touched, NamesLabelsOfMatchersGroupingsMatchingsAndLabelFunctions) {
  const Touched found = touched(
      "label_replace(sum by (by_label) (a{matched!~'x'}) * on (on_label) group_left (included) b, "
      "'to', '$1', ('from'), '(.*)')");
  EXPECT_THAT(found.labels,
              ElementsAre("by_label", "from", "included", "matched", "on_label", "to"));
  EXPECT_THAT(touched("label_join(c, 'to', '-', 'l1', 'l2')").labels,
              ElementsAre("l1", "l2", "to"));
  EXPECT_THAT(touched("count_values without (w) ('v', e)").labels, ElementsAre("v", "w"));
  EXPECT_THAT(touched("label_join(c, 'to', '-')").labels, ElementsAre("to"));
}

TEST(Touched, SaysWhenAnyMetricMayBeRead) {
  EXPECT_TRUE(touched("{job='x'}").any_metric);
  EXPECT_TRUE(touched("a + {__name__=~'b.*'}").any_metric);
  EXPECT_TRUE(touched("max_over_time({x='y'}[5m:1m])").any_metric);
  EXPECT_FALSE(touched("{__name__='a', __name__!~'b'}").any_metric);
}

TEST(Touched, FindsNothingInNumbers) {
  const Touched found = touched("1 + -time() * vector(2)");
  EXPECT_THAT(found.metrics, IsEmpty());
  EXPECT_THAT(found.labels, IsEmpty());
  EXPECT_FALSE(found.any_metric);
}

}  // namespace
}  // namespace gpusight::promql

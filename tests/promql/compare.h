// Whether a query answered what a script says it does. Pure; any thread.
//
// Each gives what differs, in words for people with expected and got; nullopt where nothing does.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "promql/annotation.h"
#include "promql/query_value.h"
#include "tests/promql/script.h"

namespace gpusight::conformance {

// As Prometheus's tests compare: NaN equals NaN, a stale marker only itself, and other numbers may
// be apart by a millionth of the sum of their magnitudes.
bool almost_equal(double a, double b);

using QueryValue = decltype(promql::QueryResult::value);

std::optional<std::string> differs(const Eval& eval, const QueryValue& got);

// The same for what a range query has at one of its steps, where `eval` is an instant query. Order
// is not looked at: a range query sorts by labels.
std::optional<std::string> differs_at(const Eval& eval, const promql::Matrix& got, int64_t time_ms);

// Warnings and infos; `query` is the text they point into.
std::optional<std::string> differs(const Eval& eval, const promql::Annotations& got,
                                   std::string_view query);

// The error of a query that is to fail.
std::optional<std::string> differs(const Eval& eval, const Status& error);

}  // namespace gpusight::conformance

// SPDX-License-Identifier: GPL-3.0-or-later
// The one table of metrics. Window, command line, CSV files, lessons, the server's /metrics and the manual
// take names, units, meanings and values from it.
#pragma once

#include "engine/base/ids.h"
#include "engine/metrics/format.h"
#include "engine/metrics/layout_metrics.h"
#include "engine/metrics/meters.h"
#include "engine/metrics/pool_metrics.h"
#include "engine/metrics/predicted_account.h"
#include "engine/metrics/run_facts.h"
#include "engine/metrics/token_account.h"
#include "engine/trace/fidelity_metrics.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace spanscope::metrics {

/// Of what a metric is a value.
enum class Scope : std::uint8_t {
  Run = 1,
  Request = 2,
  Node = 4,         ///< the tokens of a node and those below it, in all prompts of a run
  Prediction = 8,   ///< of a run that has not run
  Comparison = 16,  ///< worth a row where runs or steps are compared
  Pool = 32         ///< of the pool of a session, at one moment or over all evicted blocks
};
using Scopes = std::uint8_t;

enum class Better : std::uint8_t { Neither, More, Less };

/// How a metric of requests becomes one of their run, where a meter measures it.
enum class Over : std::uint8_t { Sum, Last };

/// What must have been done before a metric has a value.
enum class Needs : std::uint8_t {
  Run,
  Fidelity  ///< the fidelity of the run was measured
};

/// Words are marked by forTranslation("Metrics", …) and have no full stop.
struct Metric {
  const char* id;             ///< "cached-tokens"; lower case, words of letters. Files and tests use it
  const char* name;           ///< "cached tokens"
  const char* shortName;      ///< "cached": for a narrow column, and after a number ("12 cached")
  const char* key = nullptr;  ///< in the object `account` of JSON; null: it is not there
  Unit unit = Unit::Number;
  Better better = Better::Neither;
  const char* meaning = "";  ///< one sentence
  const char* events = "";   ///< names of the events that it comes from, separated by ", "
  Scopes scopes = 0;         ///< of Scope
  bool isRare = false;       ///< left out of comparisons where it is 0
  bool isPlotted = false;    ///< has a card of its own in the view of metrics

  // How it is computed: the first of these that is set.
  std::int64_t (*ofTokens)(const TokenAccount& account) = nullptr;
  std::optional<Value> (*ofTotals)(const Totals& totals) = nullptr;  ///< before ofTokens, except of nodes
  std::optional<Value> (*ofRun)(const RunFacts& run) = nullptr;
  std::optional<Value> (*ofNode)(const RunFacts& run, const NodePath& node) = nullptr;
  std::optional<Value> (*ofFidelity)(const trace::FidelityMetrics& fidelity) = nullptr;
  std::optional<Value> (*ofLayout)(const LayoutMetrics& layout) = nullptr;
  std::optional<Value> (*ofPool)(const PoolFacts& pool) = nullptr;
  MakeMeter meter = nullptr;
  Over over = Over::Sum;
  Needs needs = Needs::Run;
  /// Beside the functions above: the bounds of the value before the run.
  std::optional<CountRange> (*ofPrediction)(const PredictedAccount& account) = nullptr;

  bool isOf(Scope scope) const { return (scopes & static_cast<Scopes>(scope)) != 0; }
  /// Of a request, or of a run by its totals. Nothing: it is not known, which is never 0.
  std::optional<Value> of(const Totals& totals) const;
  std::optional<Value> of(const RunFacts& run) const;
  std::optional<Value> of(const RunFacts& run, const NodePath& node) const;
  /// Of the tokens of a node or of a range of tokens.
  std::optional<Value> of(const TokenAccount& account) const;
  std::optional<Value> of(const trace::FidelityMetrics& fidelity) const;
  std::optional<Value> of(const LayoutMetrics& layout) const;
  std::optional<Value> of(const PoolFacts& pool) const;
  /// Before the run.
  std::optional<CountRange> of(const PredictedAccount& account) const;
  std::optional<double> number(const Totals& totals) const;
  /// Whether two runs of the same query may differ in it.
  bool isTime() const { return unit == Unit::Seconds || unit == Unit::TokensPerSecond; }
};

/// In the order in which views list them.
std::span<const Metric> all();
/// By id. Lessons write spaces for hyphens: "cached tokens". Null: there is none.
const Metric* find(std::string_view id);
/// The metric with this id, which must be in the table.
const Metric& get(std::string_view id);
/// What lessons call it: the id with spaces.
std::string lessonName(const Metric& metric);

/// The name with a unit where a number alone would not say it: "time to first token ms", "cached tokens".
std::string heading(const Metric& metric);
/// The same with the short name: "TTFT ms", "cached".
std::string shortHeading(const Metric& metric);

}  // namespace spanscope::metrics

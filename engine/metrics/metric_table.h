// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the table of all metrics: names, units, meanings and values. The window, the command line, CSV
// files, lessons, the server's /metrics and the manual use this table. Open this file to add a metric.
#pragma once

#include "engine/base/ids.h"
#include "engine/metrics/format.h"
#include "engine/metrics/meters.h"
#include "engine/metrics/pool_metrics.h"
#include "engine/metrics/run_facts.h"
#include "engine/metrics/token_account.h"
#include "engine/trace/fidelity_metrics.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace spanscope::metrics {

/// The kinds of objects for which a metric can have a value.
enum class Scope : std::uint8_t {
  Run = 1,
  Request = 2,
  Node = 4,         ///< the tokens of a node and the nodes below it, in all prompts of a run
  Prediction = 8,   ///< a query before it runs
  Comparison = 16,  ///< shown in comparisons of runs or steps
  Pool = 32         ///< the pool of a session, at one moment or over all evicted blocks
};
using Scopes = std::uint8_t;

enum class Better : std::uint8_t { Neither, More, Less };

/// How a run's value follows from the values of its requests, for metrics with a meter.
enum class Over : std::uint8_t { Sum, Last };

/// The action that is necessary before a metric has a value.
enum class Needs : std::uint8_t {
  Run,
  Fidelity  ///< the fidelity of the run was measured
};

/// A row of the table. Texts are marked by forTranslation("Metrics", …) and have no full stop.
struct Metric {
  const char* id;             ///< "cached-tokens": words of lower-case letters; files and tests use the id
  const char* name;           ///< "cached tokens"
  const char* shortName;      ///< "cached": for a narrow column, and after a number ("12 cached")
  const char* key = nullptr;  ///< name in the JSON object `account`; null: the object does not have the
                              ///< metric
  Unit unit = Unit::Number;
  Better better = Better::Neither;
  const char* meaning = "";  ///< one sentence
  const char* events = "";   ///< names of the events that determine the value, separated by ", "
  Scopes scopes = 0;         ///< of Scope
  bool isRare = false;       ///< left out of comparisons if the value is 0
  bool isPlotted = false;    ///< has its own card in the view of metrics

  // The functions that compute the value. The first function that is set is used.
  std::int64_t (*ofTokens)(const TokenAccount& account) = nullptr;
  std::optional<Value> (*ofTotals)(const Totals& totals) = nullptr;  ///< preferred to ofTokens, except for
                                                                     ///< nodes
  std::optional<Value> (*ofRun)(const RunFacts& run) = nullptr;
  std::optional<Value> (*ofNode)(const RunFacts& run, const NodePath& node) = nullptr;
  std::optional<Value> (*ofFidelity)(const trace::FidelityMetrics& fidelity) = nullptr;
  std::optional<Value> (*ofLayout)(const LayoutMetrics& layout) = nullptr;
  std::optional<Value> (*ofPool)(const PoolFacts& pool) = nullptr;
  MakeMeter meter = nullptr;
  Over over = Over::Sum;
  Needs needs = Needs::Run;
  /// Computes the bounds of the value before the run, in addition to the other functions.
  std::optional<CountRange> (*ofPrediction)(const PredictedAccount& account) = nullptr;

  bool isOf(Scope scope) const { return (scopes & static_cast<Scopes>(scope)) != 0; }
  /// Returns the value for a request, or for a run by its totals. Returns nothing if the value is unknown; an
  /// unknown value is never 0.
  std::optional<Value> of(const Totals& totals) const;
  std::optional<Value> of(const RunFacts& run) const;
  std::optional<Value> of(const RunFacts& run, const NodePath& node) const;
  /// Returns the value for the tokens of a node or of a range of tokens.
  std::optional<Value> of(const TokenAccount& account) const;
  std::optional<Value> of(const trace::FidelityMetrics& fidelity) const;
  std::optional<Value> of(const LayoutMetrics& layout) const;
  std::optional<Value> of(const PoolFacts& pool) const;
  /// Returns the bounds before the run.
  std::optional<CountRange> of(const PredictedAccount& account) const;
  std::optional<double> number(const Totals& totals) const;
  /// Whether two runs of the same query may have different values.
  bool isTime() const { return unit == Unit::Seconds || unit == Unit::TokensPerSecond; }
};

/// Returns all metrics in the order of the views.
std::span<const Metric> all();
/// Finds a metric by its id, with hyphens or, as in lessons, spaces ("cached tokens"). Returns null if there
/// is no such metric.
const Metric* find(std::string_view id);
/// Returns the metric with this id, which must be in the table.
const Metric& get(std::string_view id);
/// Returns the name in lessons: the id with spaces.
std::string lessonName(const Metric& metric);

/// Returns the name, with a unit if the number alone is ambiguous: "time to first token ms", "cached tokens".
std::string heading(const Metric& metric);
/// Returns the short name in the same way: "TTFT ms", "cached".
std::string shortHeading(const Metric& metric);

}  // namespace spanscope::metrics

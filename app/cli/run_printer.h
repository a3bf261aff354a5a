// SPDX-License-Identifier: GPL-3.0-or-later
// Shows a run in a terminal, from the events of the run: first the text of each step while it is generated,
// then a table. Also makes the report of `spanq run --fidelity`.
#pragma once

#include "app/cli/cli.h"
#include "app/cli/command.h"
#include "app/cli/command_service.h"
#include "engine/experiment/fidelity.h"
#include "engine/jobs/fidelity.h"
#include "engine/metrics/metric_table.h"
#include "engine/metrics/token_account.h"
#include "engine/plan/plan.h"
#include "engine/run/run_result.h"
#include "engine/trace/event.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace spanscope::cli {

/// The beginning of messages of this severity, e.g. "warning: ".
const char* severityName(Severity severity);

/// Numbers of independent segments of a run, by their cache hits.
struct SpanCounts {
  std::int64_t relocated = 0;  ///< relocated hits: the whole segment, at another start position
  std::int64_t plain = 0;      ///< hits of the whole segment, at the same start position
  std::int64_t partial = 0;    ///< partial hits
  std::int64_t computed = 0;   ///< misses
  bool operator==(const SpanCounts&) const = default;
};

/// Hits that a run loaded from one tier of the span store.
struct TierCounts {
  std::int64_t tokens = 0;
  std::uint64_t bytes = 0;
  std::int64_t nanoseconds = 0;
};
/// Loaded hits of a run, by tier.
using LoadCounts = std::map<trace::StoreTier, TierCounts>;

/// Shows one run while it is in progress. Steps run at the same time, but a terminal has only one cursor. So
/// the printer shows only the first unfinished step live. The texts of later steps wait. The terminal shows
/// each text in one piece, in the order of the plan.
class RunPrinter {
 public:
  /// If `quiet`, the printer shows only messages and progress, and writes nothing to standard output. `name`
  /// is the name of the query file. Messages begin with this name. `blockSize`: tokens of a block of the
  /// cache, at least 1.
  RunPrinter(const Streams& streams, const plan::Plan& plan, bool quiet, std::string name,
             std::int32_t blockSize);

  void take(const trace::Event& event);
  /// Ends the text. Call this function after all events, before the tables.
  void finish();

  const SpanCounts& spans() const { return m_spans; }
  /// The metrics of each step, from the result of a run and the events so far in `meters`. Counts of a step
  /// without a request are 0.
  std::vector<metrics::Totals> totals(const run::RunResult& result, const metrics::Meters& meters) const;
  const LoadCounts& loads() const { return m_loads; }
  /// Token counts of all prompts in the layout, unless the layout is `exact`.
  const metrics::LayoutMetrics& layoutMetrics() const { return m_layout; }

 private:
  struct Answer {
    std::string waiting;     ///< text that waits for the step's turn
    std::size_t length = 0;  ///< bytes of text so far, shown or waiting
    bool started = false;    ///< the heading of the step was shown
    bool ended = false;
  };
  struct Segment {
    bool independent = false;
    std::int64_t found = 0;
    std::int64_t wanted = 0;
    bool relocated = false;
  };

  void takeText(RequestId request, const std::string& text);
  void showRotation();
  void showProgress();
  void wipeProgress();
  void countSpans(RequestId request);

  const Streams& m_streams;
  std::string m_name;
  const plan::Plan& m_plan;
  bool m_quiet;
  std::vector<Answer> m_answers;  ///< the answer of each step
  std::map<RequestId, StepIndex> m_steps;
  std::map<RequestId, std::vector<Segment>> m_segments;
  std::set<RequestId> m_preempted;
  StepIndex m_turn = 0;
  bool m_midLine = false;
  SpanCounts m_spans;
  metrics::TokenAccounts m_accounts;
  LoadCounts m_loads;
  SharedList<trace::SegmentInfo> m_table;  ///< the segments of the last span table
  std::int32_t m_layoutBlock = 1;          ///< tokens
  metrics::LayoutMetrics m_layout;
  std::int64_t m_toCompute = 0;
  std::int64_t m_computed = 0;
  std::int64_t m_generated = 0;
  bool m_progressShown = false;
};

/// The node of a step, with the number of the copy: "/g/input/plus/0 (copy 2 of 4)". The root of the query is
/// "the root".
std::string stepName(const plan::Plan& plan, std::size_t index);

/// A table with one row for each step and a column for each metric that compares steps. Cached, recomputed
/// and computed tokens add up to the prompt of a step that was not stopped. `totals`: by step.
std::string stepTable(const plan::Plan& plan, const run::RunResult& result,
                      const std::vector<metrics::Totals>& totals);

/// One line with the reused spans and tokens. `totals`: by step.
std::string reuseSummary(const std::vector<metrics::Totals>& totals, const SpanCounts& spans);
/// One line with the hits that were loaded from a tier; empty if there are no such hits.
std::string loadSummary(const LoadCounts& loads);

using MeasuredStep = jobs::FidelityJob::Found;

/// Measures the answers of a run of the service, one after the other. If an answer cannot be measured, the
/// reason goes to standard error. After a stop the remaining answers are left out.
std::vector<MeasuredStep> measureAnswers(CommandService& service, RunId run,
                                         experiment::FinishedAnswers& gathered, const Context& context);

/// A table with one row for each step, and a last row for the whole run.
std::string fidelityReport(const plan::Plan& plan, const run::RunResult& result,
                           const std::vector<MeasuredStep>& measured);

/// The metrics of the run, and every step with every token, as JSON.
nlohmann::ordered_json fidelityJson(const plan::Plan& plan, const run::RunResult& result,
                                    const std::vector<MeasuredStep>& measured);

/// Metrics that count tokens of prompts, e.g. by the source of their keys and values: all metrics with a key.
/// An unknown value is null.
nlohmann::ordered_json accountJson(const metrics::Totals& totals);

/// One run as JSON: outcome, answer, and each step with its tokens and times (milliseconds). `totals`: by
/// step.
nlohmann::ordered_json runToJson(const std::string& file, const plan::Plan& plan,
                                 const run::RunResult& result, const SpanCounts& spans,
                                 const LoadCounts& loads, const std::vector<metrics::Totals>& totals);

}  // namespace spanscope::cli

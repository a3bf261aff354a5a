// SPDX-License-Identifier: GPL-3.0-or-later
// Lists the runs for views that show several runs. The list has runs of the shown trace, runs of older
// sessions, and runs without events in memory. This file also reports how two runs differ, so that a view
// compares only similar runs.
#pragma once

#include "engine/base/shared.h"
#include "engine/layout/layouts.h"
#include "engine/metrics/metric_table.h"
#include "engine/metrics/run_facts.h"
#include "ui/session/trace_source.h"
#include "ui/session/view_input.h"

#include <QString>
#include <QStringList>

#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace spanscope::ui {

/// Which runs a view of several runs shows.
enum class RunScope {
  Document,  ///< only runs of the current document
  All,
};

struct ListedRun {
  RunId run = 0;
  const trace::Progress* progress = nullptr;  ///< never null; contains this run and its requests
  const RunRecord* record = nullptr;          ///< null: only the trace is known
  std::shared_ptr<const TraceStore> trace{};  ///< null: the events are no longer in memory
  std::size_t position = 0;                   ///< how many events of `trace` have happened
  bool isOwn = true;                          ///< the run belongs to the current document
  QString model{};                            ///< name of the checkpoint; empty: not known

  const trace::RunState& state() const { return progress->runs.at(run); }
  QString document() const;  ///< title of the document; empty: not known
  layout::Layout layout() const;
  /// "spans", "spans, padded": the policy, and the layout unless the layout is exact.
  QString policyText() const;
};

/// Lists the runs, ascending by number. The result is valid as long as the input and its records live. The
/// result becomes invalid if the trace grows or computes its state at another position.
std::vector<ListedRun> listRuns(const ViewInput& input);
/// Returns the same list, but `listsLater` replaces the value in the input. `listsLater` decides whether runs
/// that start after the position are listed.
std::vector<ListedRun> listRuns(const ViewInput& input, bool listsLater);

/// Whether the run belongs to a document other than the current document. The engine's sessions have the runs
/// of all documents. Any other trace belongs to the document that shows it.
bool isOfOther(const ViewInput& input, RunId run);

/// Labels runs in a list: "run 3 · rag20 · smollm2 · spans". Document and model are left out if all runs
/// share them.
class RunLabels {
 public:
  explicit RunLabels(const std::vector<ListedRun>& among);

  /// `isCold` adds that the run was cold: "run 3 (cold) · spans".
  QString of(const ListedRun& run, bool isCold = false) const;

 private:
  bool m_namesDocument;
  bool m_namesModel;
};
/// The start time of the run, for the user; empty: not known.
QString runTime(const ListedRun& run);

/// The differences of `other` from `run`, for the user: "model smollm2", "another query", "policy prefix".
QStringList differencesOf(const ListedRun& run, const ListedRun& other);
/// Whether the times of the two runs can be compared: both have the same document and the same model.
bool isLike(const ListedRun& run, const ListedRun& other);

/// The facts that make a run a fair base of a comparison, or not.
struct RunBasis {
  RunId run = 0;  ///< 0: there is no run.
  /// The run reused no blocks of earlier runs. Steps of the run may share blocks. False: the run is warm, or
  /// this is not known.
  bool isCold = false;
  /// The query as canonical JSON.
  Shared<std::string> queryJson{};
  bool operator==(const RunBasis&) const = default;
};
RunBasis basisOf(const ListedRun& run);
/// Whether both runs have the same query and are both cold or both warm. Otherwise a shorter time is no
/// evidence about the engine.
bool isLike(const RunBasis& run, const RunBasis& base);
/// Names the base of a comparison with `run`, and how the two differ: "run 1", "run 1 (cold)", "run 2 (warm,
/// another query)". Every view that shows a change of a time uses this name.
QString baseName(const RunBasis& run, const RunBasis& base);

/// Counts how the tokens of a prompt of the run got their keys and values. Tokens that a stopped run did not
/// compute are unread.
metrics::PromptAccount accountOf(const ListedRun& run, RequestId request);
/// Counts the same for all prompts of the run.
metrics::PromptAccount accountOf(const ListedRun& run);

/// The metrics of a whole run.
using metrics::RunValues;
using metrics::valuesOf;

// Totals of runs and their requests, for the functions of the metric table.

/// Follows traces for the metrics that need all events of a session. Each call reads only the new events. The
/// object keeps no trace alive.
class RunMeters {
 public:
  /// The meters of one request. Empty if the request was not admitted yet, or if the events of the request
  /// are no longer in memory.
  metrics::Metered of(const ListedRun& run, RequestId request);

 private:
  struct Followed {
    std::weak_ptr<const TraceStore> trace;
    std::size_t position = 0;
    metrics::Meters meters;
  };
  std::map<const TraceStore*, Followed> m_followed;
};

metrics::Totals totalsOf(const ListedRun& run, RequestId request, RunMeters& meters);
/// The totals of all requests of the run. The caller adds the speeds.
metrics::Totals totalsOf(const ListedRun& run, RunMeters& meters);

// Runs that a cache simulator predicted (engine/simulator). A predicted run shows what a server's cache would
// do with queries. The window lists predicted runs like other runs, so that the same views can draw all runs.
// No value of a predicted run was measured.

/// Whether a cache simulator made the trace, or the run.
bool isPredicted(const TraceStore& trace);
bool isPredicted(const RunRecord& record);
bool isPredicted(const ListedRun& run);

/// Whether free blocks are allocated in the order of the trace. False for cache simulators that number their
/// blocks themselves.
bool hasOrder(const TraceStore& trace);

/// The trace of a cache simulator, without times. Jobs cannot compute anything for such a trace.
class PredictedSource final : public TraceSource {
 public:
  explicit PredictedSource(std::shared_ptr<const TraceStore> trace) : m_trace(std::move(trace)) {}
  TraceOrigin origin() const override { return TraceOrigin::Server; }
  std::shared_ptr<const TraceStore> trace() const override { return m_trace; }
  ReportedFacts reports() const override { return predictedReports(); }

  static ReportedFacts predictedReports();

 private:
  std::shared_ptr<const TraceStore> m_trace;
};

}  // namespace spanscope::ui

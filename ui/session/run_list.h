// SPDX-License-Identifier: GPL-3.0-or-later
// Lists the runs for views that show several runs: runs of the shown trace, runs of older sessions, and runs
// of which only figures are left. It also says how two runs differ, so that a view compares only like with
// like.
#pragma once

#include "engine/base/shared.h"
#include "engine/layout/layouts.h"
#include "engine/metrics/run_facts.h"
#include "ui/session/view_input.h"

#include <QString>
#include <QStringList>

#include <cstddef>
#include <vector>

namespace spanscope::ui {

/// Which runs a view of several runs shows.
enum class RunScope {
  Document,  ///< only runs of the document in view
  All,
};

struct ListedRun {
  RunId run = 0;
  const trace::Progress* progress = nullptr;  ///< never null; holds this run and its requests
  const RunRecord* record = nullptr;          ///< null: only the trace is known
  std::shared_ptr<const TraceStore> trace{};  ///< null: the events are no longer in memory
  std::size_t position = 0;                   ///< how many events of `trace` have happened
  bool isOwn = true;                          ///< the run belongs to the document in view
  QString model{};                            ///< name of the checkpoint; empty: not known

  const trace::RunState& state() const { return progress->runs.at(run); }
  QString document() const;  ///< title of the document; empty: not known
  layout::Layout layout() const;
  /// "spans", "spans, padded": the policy, and the layout if it is not the exact one.
  QString policyText() const;
};

/// Lists the runs, ascending by number. The result is valid as long as the input and its records live, and
/// until the trace grows or is asked for its state at another position.
std::vector<ListedRun> listRuns(const ViewInput& input);
/// The same list, but `listsLater` decides whether runs that start after the position are listed, not the
/// input.
std::vector<ListedRun> listRuns(const ViewInput& input, bool listsLater);

/// Whether the run belongs to another document than that in view. The engine's sessions have the runs of all
/// documents. Another trace belongs to the document that shows it.
bool isOfOther(const ViewInput& input, RunId run);

/// Labels runs in a list: "run 3 · rag20 · smollm2 · spans". Document and model are left out where all runs
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
/// When the run started, as a person reads it; empty: not known.
QString runTime(const ListedRun& run);

/// How `other` differs from `run`, in words: "model smollm2", "another query", "policy prefix".
QStringList differencesOf(const ListedRun& run, const ListedRun& other);
/// Whether the times of the two runs can be compared: they ran the same document on the same model.
bool isLike(const ListedRun& run, const ListedRun& other);

/// What a run was like whose figures are the base of a comparison.
struct RunBasis {
  RunId run = 0;  ///< 0: there is no run
  /// The cache had nothing for the run that an earlier run had left there. Its own steps may share blocks.
  bool isCold = false;
  /// Canonical JSON of its query.
  Shared<std::string> queryJson{};
  bool operator==(const RunBasis&) const = default;
};
RunBasis basisOf(const ListedRun& run);
/// Whether both ran the same query, and both found the cache cold or both warm. Otherwise a shorter time says
/// nothing about the engine.
bool isLike(const RunBasis& run, const RunBasis& base);
/// "run 1", "run 1 (cold)", "run 2 (warm, another query)": names the run with whose figures those of `run`
/// are compared, and how the base is not like it. Every place that states a change of a time uses this name.
QString baseName(const RunBasis& run, const RunBasis& base);

/// How the tokens of a prompt of the run got their keys and values. What a stopped run did not come to is
/// unread.
metrics::PromptAccount accountOf(const ListedRun& run, RequestId request);
/// The same of all its prompts.
metrics::PromptAccount accountOf(const ListedRun& run);

/// The metrics of a whole run.
using metrics::RunValues;
using metrics::valuesOf;

}  // namespace spanscope::ui

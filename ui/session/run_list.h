// SPDX-License-Identifier: GPL-3.0-or-later
// The runs that views of several runs show: of the trace in view, of older sessions, and those of which only
// figures are left. And what of two runs is alike, so that only like is compared with like.
#pragma once

#include "engine/layout/layouts.h"
#include "engine/trace/run_figures.h"
#include "ui/session/view_input.h"

#include <QString>
#include <QStringList>

#include <cstddef>
#include <vector>

namespace spanscope::ui {

/// Whose runs a view of several runs shows.
enum class RunScope {
  Document,  ///< those of the document in view
  All,
};

struct ListedRun {
  RunId run = 0;
  const trace::Progress* progress = nullptr;  ///< never null; holds the run and its requests
  const RunRecord* record = nullptr;          ///< null: nothing is known but the trace
  std::shared_ptr<const TraceStore> trace{};  ///< null: it was let go
  std::size_t position = 0;                   ///< how many of its events have happened
  bool isOwn = true;                          ///< of the document in view
  QString model{};                            ///< name of the checkpoint; empty: not known

  const trace::RunState& state() const { return progress->runs.at(run); }
  QString document() const;  ///< its title; empty: not known
  layout::Layout layout() const;
  /// "spans", "spans, padded": the policy, and the layout where it is not the exact one.
  QString policyText() const;
};

/// Ascending by run. Valid as long as the input and its records are, until the trace grows or another
/// position of it is asked for.
std::vector<ListedRun> listRuns(const ViewInput& input);
/// The same with runs behind the position, or without them, whatever the input says.
std::vector<ListedRun> listRuns(const ViewInput& input, bool listsLater);

/// What runs are called where several are listed: "run 3 · rag20 · smollm2 · spans". The parts that all of
/// them share are left out, but for the policy.
class RunLabels {
 public:
  explicit RunLabels(const std::vector<ListedRun>& among);

  QString of(const ListedRun& run) const;

 private:
  bool m_namesDocument;
  bool m_namesModel;
};
/// When it started, as a person reads it; empty: not known.
QString runTime(const ListedRun& run);

/// What of `other` is not as it is of `run`, in words: "model smollm2", "another query", "policy prefix".
QStringList differencesOf(const ListedRun& run, const ListedRun& other);
/// Whether times of the two can be compared: the same document on the same model.
bool isLike(const ListedRun& run, const ListedRun& other);

/// What is said of a whole run, wherever it is said.
using trace::figuresOf;
using trace::RunFigures;

}  // namespace spanscope::ui

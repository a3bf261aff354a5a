// SPDX-License-Identifier: GPL-3.0-or-later
// The one table of the effects of lesson actions in the window. Each action of engine/lesson/actions.h has a
// row.
#pragma once

#include "engine/base/ids.h"
#include "engine/lesson/actions.h"
#include "engine/metrics/run_facts.h"
#include "engine/workbench/document/document.h"
#include "ui/session/selection.h"
#include "ui/session/trace_store.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::ui {

/// A state of the engine. Two marks differ if a run began, or the cache was emptied, in the meantime.
struct EngineMark {
  RunId newest = 0;           ///< the run that began last
  std::size_t runs = 0;       ///< number of runs of the history
  std::uint64_t emptied = 0;  ///< number of times that the cache was emptied
  bool operator==(const EngineMark&) const = default;
};

/// The functions of the window that a lesson needs. The window and the tests of LessonCourse implement this
/// interface.
class LessonStage {
 public:
  virtual ~LessonStage() = default;

  /// Sets aside the documents and runs of the learner, and everything of an earlier lesson. The history and
  /// the cache are empty then.
  virtual void begin() = 0;
  /// Closes the documents of the lesson that the learner has not changed. Restores the documents, runs, cache
  /// and layout of the learner.
  virtual void end() = 0;
  /// The number of the learner's tabs that are hidden while the lesson is open.
  virtual std::size_t hiddenTabs() const = 0;
  /// While `hides` is true, no view predicts the next run, and no view shows warnings about the query.
  virtual void hidePrediction(bool hides) = 0;

  /// Returns the settings of a document that the learner would run now. A lesson takes its model or its
  /// device from these settings.
  virtual document::RunSettings machine() const = 0;

  /// Brings the tab of a query of the lesson to the front, and sets its document. If the document differs,
  /// the change is one undo step with the name `change`. A query without a tab gets a tab.
  virtual void showQuery(const QString& query, const document::Document& document, const QString& change) = 0;
  // The functions below concern the active document.

  /// Shows a layout. `actions` is the number of layout actions so far. If this number differs from the last
  /// call, only the docks of the layout are open.
  virtual void showLayout(const QString& layout, std::uint32_t actions) = 0;
  virtual void showDock(const QString& id) = 0;
  virtual void select(const Selection& selection) = 0;
  virtual Selection selection() const = 0;
  /// "in", "out", "reset", "all" or "selection"
  virtual void zoom(const QString& how) = 0;
  /// Shows a run after the first `position` events of the trace.
  virtual void showRun(RunId run, std::size_t position) = 0;
  /// Sets the runs that the Compare dock compares.
  virtual void compare(RunId one, RunId other) = 0;
  /// If runs are compared now, compares the last two runs of the document instead.
  virtual void compareLast() = 0;
  virtual void showExperiment(const QString& name) = 0;

  /// Starts a job. LessonCourse::jobEnded() must be called at its end. If the job cannot start, returns the
  /// reason in words.
  virtual QString startRun() = 0;
  virtual QString startFidelity(RunId run) = 0;
  /// Starts the computation of the vectors that the Rotation dock draws. LessonCourse::jobEnded() must be
  /// called at its end. Returns false if the vectors are known or cannot be computed now.
  virtual bool startRotation() = 0;
  virtual void emptyCache() = 0;
  virtual EngineMark engineMark() const = 0;
  /// Whether a job of the active document has not ended.
  virtual bool isBusy() const = 0;
  /// The document in the tab of the lesson, with the learner's changes. Null: this tab is not the current
  /// tab.
  virtual const document::Document* shownDocument() const = 0;
  /// Returns the events of the session of a run. Null: the events are no longer in memory.
  virtual std::shared_ptr<const TraceStore> traceOf(RunId run) const = 0;
};

/// The state of the views after the actions so far. show() restores the views from this value.
struct LessonView {
  std::string layout;               ///< empty: the learner's layout
  std::uint32_t layoutActions = 0;  ///< number of layout actions so far
  std::vector<std::string> docks;   ///< the docks that were shown after the layout
  std::optional<lesson::Target> target;
  std::optional<lesson::Moment> moment;  ///< the moment of the last run; nothing: its end
  std::string zoom;                      ///< the last zoom; empty: the learner's
  std::uint32_t compared = 0;            ///< the run that the last run is compared with; 0: none
  std::string experiment;
  bool operator==(const LessonView&) const = default;
};

/// The next task of the caller that carries out an action.
enum class ActionStep : std::uint8_t {
  View,      ///< show the changed LessonView
  Document,  ///< change the desk (LessonState), and show it
  Run,       ///< run the query
  Wait,      ///< show the moment of the last run
  Fidelity,  ///< measure the fidelity of a run
  Empty,     ///< empty the cache
};

struct ActionRow {
  lesson::ActionKind kind = lesson::ActionKind::Run;
  ActionStep step = ActionStep::View;
  /// Changes the view. Null: the action does not change the view.
  void (*note)(LessonView& view, const lesson::Action& action) = nullptr;
};

/// Returns the rows in the order of lesson::actions().
const std::vector<ActionRow>& actionRows();
const ActionRow& actionRow(lesson::ActionKind kind);

/// Returns the target of the same node after a swap action: the node moves to another path. Other targets
/// stay as they are.
lesson::Target afterSwap(lesson::Target target, const lesson::Action& swap);

/// Whether the learner has made the wanted document: the same nodes in the same places, and the same
/// settings. Texts may differ in spaces and in capital letters.
bool isAsWanted(const document::Document& shown, const document::Document& wanted);

/// Returns the name of an undo step: "Lesson: edit".
QString changeName(lesson::ActionKind kind);

/// Returns the selection of a target in a document and a run. Nothing: the target does not exist there. `run`
/// may be null.
std::optional<Selection> selectionOf(const lesson::Target& target, const document::Document& document,
                                     const metrics::RunFacts* run);
/// Returns the beginning of a node's text, or the label of a node without text. Empty: there is no such node.
QString nodeWords(const document::Document& document, const NodePath& path);
/// Returns the number of the selected block in the first prompt of a run, from 0. Nothing: no block of this
/// prompt is selected.
std::optional<std::size_t> blockNumber(const Selection& selection, const metrics::RunFacts& run);
/// Returns the number of events of the trace up to a moment of a run. Nothing: the trace has no such moment.
std::optional<std::size_t> positionOf(const lesson::Moment& moment, RunId run, const TraceStore& trace);

/// Restores the views from `view`. `runs` are the runs of the lesson with their facts. The last run is shown.
void show(LessonStage& stage, const LessonView& view, const document::Document* document,
          const std::vector<std::pair<RunId, const metrics::RunFacts*>>& runs);

}  // namespace spanscope::ui

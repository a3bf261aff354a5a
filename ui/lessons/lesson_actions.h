// SPDX-License-Identifier: GPL-3.0-or-later
// The one table of what the actions of a lesson do in the window: a row for each of engine/lesson/actions.h.
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

// What a lesson needs of the window. The window carries it out; tests of the course stand in for it.

/// What the engine has done, so that two of them tell whether anything was run or forgotten in between.
struct EngineMark {
  RunId newest = 0;           ///< run that began last
  std::uint64_t emptied = 0;  ///< how often the cache was emptied
  bool operator==(const EngineMark&) const = default;
};

class LessonStage {
 public:
  virtual ~LessonStage() = default;

  /// The settings of a document that a learner would run now: what a lesson takes of the machine.
  virtual document::RunSettings machine() const = 0;

  /// Brings the tab of a query of the lesson to the front, and gives its document this value, as one undo
  /// step of this name where it differs. A query that has no tab gets one.
  virtual void showQuery(const QString& query, const document::Document& document, const QString& change) = 0;
  /// Below: of the document in view.
  virtual void showLayout(const QString& layout) = 0;
  virtual void showDock(const QString& id) = 0;
  virtual void select(const Selection& selection) = 0;
  virtual Selection selection() const = 0;
  /// "in", "out", "reset", "all" or "selection"
  virtual void zoom(const QString& how) = 0;
  /// Shows a run as it was after so many events of its trace.
  virtual void showRun(RunId run, std::size_t position) = 0;
  virtual void compare(RunId one, RunId other) = 0;
  /// Where runs are compared, these are the last two of the document.
  virtual void compareLast() = 0;
  virtual void showExperiment(const QString& name) = 0;

  /// Starts work, whose end LessonCourse::jobEnded() is told. Returns why not, in words; else nothing.
  virtual QString startRun() = 0;
  virtual QString startFidelity(RunId run) = 0;
  virtual void emptyCache() = 0;
  virtual EngineMark engineMark() const = 0;
  /// Whether work of the document in view has not ended.
  virtual bool isBusy() const = 0;
  /// Events of the session of a run; null: they are no longer in memory.
  virtual std::shared_ptr<const TraceStore> traceOf(RunId run) const = 0;
};

/// What the actions so far have brought into view: a value from which it is shown again.
struct LessonView {
  std::string layout;              ///< empty: the learner's
  std::vector<std::string> docks;  ///< that were shown since the layout was
  std::optional<lesson::Target> target;
  std::optional<lesson::Moment> moment;  ///< of the last run; nothing: its end
  std::string zoom;                      ///< the last one; empty: the learner's
  std::uint32_t compared = 0;            ///< the last run beside this one; 0: none
  std::string experiment;
  bool operator==(const LessonView&) const = default;
};

/// What carrying out an action means for who does it.
enum class ActionStep : std::uint8_t {
  View,      ///< LessonView has changed, and is to be shown
  Document,  ///< the desk has changed, and is to be shown
  Run,       ///< the query is to be run
  Wait,      ///< the moment of the last run is to be shown
  Fidelity,  ///< a run is to be measured
  Empty,     ///< the cache is to be emptied
};

struct ActionRow {
  lesson::ActionKind kind = lesson::ActionKind::Run;
  ActionStep step = ActionStep::View;
  /// What it changes of the view; null: nothing.
  void (*note)(LessonView& view, const lesson::Action& action) = nullptr;
};

/// In the order of lesson::actions().
const std::vector<ActionRow>& actionRows();
const ActionRow& actionRow(lesson::ActionKind kind);

/// The names of an undo step: "Lesson: edit a text".
QString changeName(lesson::ActionKind kind);

/// What a target means in a document and a run; nothing where it is not there. `run` may be null.
std::optional<Selection> selectionOf(const lesson::Target& target, const document::Document& document,
                                     const metrics::RunFacts* run);
/// The number, from 0, of the block that is selected, in the first prompt of a run; nothing: none of it is.
std::optional<std::size_t> blockNumber(const Selection& selection, const metrics::RunFacts& run);
/// How many events have happened at a moment of a run; nothing where its trace has no such moment.
std::optional<std::size_t> positionOf(const lesson::Moment& moment, RunId run, const TraceStore& trace);

/// Brings into view what the value says. `runs`: what the lesson's runs came to, the last one shown.
void show(LessonStage& stage, const LessonView& view, const document::Document* document,
          const std::vector<std::pair<RunId, const metrics::RunFacts*>>& runs);

}  // namespace spanscope::ui

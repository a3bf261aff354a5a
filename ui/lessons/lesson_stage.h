// SPDX-License-Identifier: GPL-3.0-or-later
// What a lesson needs of the window. The window carries it out; tests of the course stand in for it.
#pragma once

#include "engine/base/ids.h"
#include "engine/workbench/document/document.h"
#include "ui/session/selection.h"
#include "ui/session/trace_store.h"

#include <QString>

#include <cstddef>
#include <cstdint>

namespace spanscope::ui {

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

  /// Starts work, whose end LessonCourse::workEnded() is told. Returns why not, in words; else nothing.
  virtual QString startRun() = 0;
  virtual QString startFidelity(RunId run) = 0;
  virtual void emptyCache() = 0;
  virtual EngineMark engineMark() const = 0;
  /// Whether work of the document in view has not ended.
  virtual bool isBusy() const = 0;
  /// Events of the session of a run; null: they are no longer in memory.
  virtual std::shared_ptr<const TraceStore> traceOf(RunId run) const = 0;
};

}  // namespace spanscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// The one table of what the actions of a lesson do in the window: a row for each of engine/lesson/actions.h.
#pragma once

#include "engine/lesson/actions.h"
#include "engine/metrics/run_facts.h"
#include "ui/lessons/lesson_stage.h"

#include <QString>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::ui {

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

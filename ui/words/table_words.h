// SPDX-License-Identifier: GPL-3.0-or-later
// The words of the engine's tables in the language of the window: events, experiments, misses, policies,
// settings.
#pragma once

#include "engine/trace/line_pieces.h"

#include <QCoreApplication>
#include <QString>

#include <functional>

namespace spanscope::ui {

/// The text of an event. `stepName` gives the view's name of a step of the event's run. Without this
/// function, the text has the numbers of steps.
QString eventText(const trace::EventWords& words,
                  const std::function<QString(StepIndex)>& stepName = nullptr);

// Translates the texts by which experiments describe themselves (engine/experiment/experiment.h).

/// Translates a title, a sentence, or the name of a field, measure, axis or column.
QString experimentWord(const char* text);

// Translates the texts about misses (engine/trace/miss_reasons.h).

/// Translates a text of a reason. An empty text stays empty.
QString missWord(const char* text);

// Translates the texts by which reuse policies describe themselves (engine/policy/policy.h).

/// Translates the help of a policy, or the label or help of one of its parameters.
QString policyWord(const char* text);

/// Translates a text of engine/doctor about a cause, or the name of a way to send a log.
QString causeWord(const char* text);

/// Translates a text of the engine's list of settings.
inline QString settingText(const char* text) {
  return *text == '\0' ? QString() : QCoreApplication::translate("spanscope::workbench", text);
}

}  // namespace spanscope::ui

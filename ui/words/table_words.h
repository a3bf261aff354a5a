// SPDX-License-Identifier: GPL-3.0-or-later
// The words of the engine's tables in the language of the window: events, experiments, misses, policies,
// settings.
#pragma once

#include "engine/trace/event_words.h"

#include <QCoreApplication>
#include <QString>

#include <functional>

namespace spanscope::ui {

/// `stepName`: what the view calls a step of the event's run; without, steps are shown by their numbers.
QString eventText(const trace::EventWords& words,
                  const std::function<QString(StepIndex)>& stepName = nullptr);

// Translates the texts by which experiments describe themselves (engine/experiment/experiment.h).

/// Translates a title, a sentence, or the name of a field, measure, axis or column.
QString experimentWord(const char* text);

// What is said of blocks that were not found (engine/trace/miss_reasons.h), in the language of the window.

/// One of the texts of a reason; of an empty one nothing.
QString missWord(const char* text);

// Translates the texts by which reuse policies describe themselves (engine/policy/policy.h).

/// Translates the help of a policy, or the label or help of one of its parameters.
QString policyWord(const char* text);

/// Translates a text of the engine's list of settings.
inline QString settingText(const char* text) {
  return *text == '\0' ? QString() : QCoreApplication::translate("spanscope::workbench", text);
}

}  // namespace spanscope::ui

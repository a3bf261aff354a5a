// SPDX-License-Identifier: GPL-3.0-or-later
// What events say to a person (engine/trace/event_words.h), in the language of the window.
#pragma once

#include "engine/trace/event_words.h"

#include <QString>

#include <functional>

namespace spanscope::ui {

/// `stepName`: what the view calls a step of the event's run; without, steps are shown by their numbers.
QString eventText(const trace::EventWords& words,
                  const std::function<QString(StepIndex)>& stepName = nullptr);

}  // namespace spanscope::ui

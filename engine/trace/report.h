// SPDX-License-Identifier: GPL-3.0-or-later
// Writes events as text for the user. Open this file to change the text of an event.
#pragma once

#include "engine/base/error.h"
#include "engine/trace/event.h"
#include "engine/trace/line_pieces.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace spanscope::trace {

/// Returns one line without its end: number, time in seconds, name, run, request, node and content. Control
/// characters and line ends of texts are escaped, so that a trace cannot control a terminal. Long texts are
/// truncated.
std::string describe(const Event& event);

/// Returns the severity of the event's line in the log. Nothing: the event has no line.
std::optional<Severity> severityOf(const Event& event);
/// Returns the event's line in the log; empty without a line.
EventWords wordsOf(const Event& event);
/// Returns the event's name for the user, e.g. "Token generated". The name is marked by
/// forTranslation("Events", …).
const char* plainNameOf(const Event& event);
/// Returns a few words to show after this name; empty if the name suffices.
EventWords detailOf(const Event& event);

}  // namespace spanscope::trace

// SPDX-License-Identifier: GPL-3.0-or-later
// What a trace says, as text for people.
#pragma once

#include "engine/base/error.h"
#include "engine/trace/event.h"
#include "engine/trace/event_words.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace spanscope::trace {

/// One line without its end: number, time in seconds, name, run, request, node and what happened. Control
/// characters and line ends of texts are escaped, so that a trace cannot drive the terminal that shows it;
/// long texts are cut.
std::string describe(const Event& event);

/// Whether an event has a line of its own in the log, and how severe it is.
std::optional<Severity> severityOf(const Event& event);
/// That line; empty where it has none.
EventWords wordsOf(const Event& event);
/// What a person calls the event: "Token generated". Marked by forTranslation("Events", …).
const char* plainNameOf(const Event& event);
/// What more is worth a few words behind the plain name; empty where the name says it all.
EventWords detailOf(const Event& event);

}  // namespace spanscope::trace

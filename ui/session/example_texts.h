// SPDX-License-Identifier: GPL-3.0-or-later
// Tells the texts of the examples from texts of a person's own.
#pragma once

#include <string>

namespace spanscope::ui {

/// Whether the query, as JSON, has one of the documents of the examples in resources/queries: a user message
/// below a plus, or what an augment searches. A query without documents is compared by its user messages.
/// Also true if the query or the examples cannot be read, because then nothing can be said.
bool hasExampleText(const std::string& queryJson);

}  // namespace spanscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// Distinguishes texts of the bundled examples from the user's texts.
#pragma once

#include <string>

namespace spanscope::ui {

/// Returns whether a query (as JSON) has a document of the examples in resources/queries. A document is a
/// user message below a plus, or a text that an augment searches. If the query has no documents, its user
/// messages are compared. Also returns true if the query or the examples cannot be read, because the texts
/// are not known then.
bool hasExampleText(const std::string& queryJson);

}  // namespace spanscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// Makes texts of files parts of a query: children of a plus, which are independent of each other.
#pragma once

#include "engine/workbench/document/document.h"
#include "ui/document/text_files.h"
#include "ui/editor/stacking.h"

#include <vector>

namespace spanscope::ui {

/// Adds a user message with the text and the name of each file, in this order, as children of a plus: of the
/// selected node or the nearest plus above it; else of the only plus of the query; else of a new one. A new
/// plus goes before the last input of the query's topmost join, which asks the question. If the query has no
/// such place, the new plus is a tree of its own and covers nothing that is drawn. Returns the messages.
std::vector<document::NodeId> addDocuments(document::Document& document, const std::vector<TextFile>& files,
                                           document::NodeId selected, const Stacks& stacks = {});

/// Makes of an empty document a query that answers a question about documents: a generate of a plus, which
/// has no input yet, and a message without a text, which it returns.
document::NodeId startQuestion(document::Document& document);

}  // namespace spanscope::ui

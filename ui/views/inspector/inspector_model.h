// SPDX-License-Identifier: GPL-3.0-or-later
// The texts of the inspector about the selected node, in addition to its fields.
#pragma once

#include "engine/workbench/document/document.h"

#include <QString>

#include <cstdint>
#include <optional>

namespace spanscope::ui {

struct InspectorFacts {
  QString title;  ///< "user · document"
  QString place;  ///< "plus, place 1 of 3"
  QString help;   ///< what the operator does
  bool operator==(const InspectorFacts&) const = default;
};

/// The facts of a node of the document.
InspectorFacts inspectorFacts(const document::Document& document, document::NodeId node);

/// "58 tokens of text". The number excludes the tokens that a chat template adds. The node card also counts
/// those tokens.
QString tokenText(std::int64_t tokens);

/// Whether the node is a text: a message, a print, a question.
bool hasTextSection(const query::Node& own);
/// Whether the node's text is a path.
bool hasPath(const query::Node& own);
/// Returns the path of a file for a document in `folder`. The path is relative if the file is in the folder
/// or below it, else absolute. `folder` is empty if the document has no file yet.
QString pathInFolder(const QString& file, const QString& folder);
/// The label of the node's text: "Text", "Message to the console", "Question".
QString textLabel(const query::Node& own);

}  // namespace spanscope::ui

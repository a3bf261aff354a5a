// SPDX-License-Identifier: GPL-3.0-or-later
// What the inspector says about the selected node besides its fields.
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

/// For a node of the document.
InspectorFacts inspectorFacts(const document::Document& document, document::NodeId node);

/// "58 tokens · 4 blocks, last holds 10 of 16".
QString tokenText(std::int64_t tokens, std::int32_t blockSize);

/// The text of nodes that are one: messages, prints, questions.
std::optional<std::string> textOfNode(const query::Node& own);
/// Does nothing for other nodes.
void setTextOfNode(query::Node& own, std::string text);
/// What the text is called: "Text", "Message to the console", "Question".
QString textLabel(const query::Node& own);

/// The settings of nodes that generate; nullptr: it does not.
const query::GenerateSettings* settingsOfNode(const query::Node& own);
query::GenerateSettings* settingsOfNode(query::Node& own);

}  // namespace spanscope::ui

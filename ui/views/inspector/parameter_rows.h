// SPDX-License-Identifier: GPL-3.0-or-later
// The parameters of a document, such as "{n}" or "{topic}", as rows that a person fills in.
#pragma once

#include "engine/query/parameters.h"
#include "engine/workbench/document/document.h"

#include <QString>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::ui {

struct ParameterRow {
  std::string name;
  /// The kind of value that the strictest of its places takes; of the node's places if the rows are of one
  /// node.
  query::ParameterKind placesKind = query::ParameterKind::Text;
  std::optional<std::string> value;  ///< nothing: no value is given
  std::size_t nodes = 0;             ///< how many nodes of the whole document use it
  /// The document's declaration of the parameter; one with nothing but the name if there is none.
  query::ParameterDeclaration declaration;

  /// The kind that its value must have, from its places and its declaration.
  query::ParameterKind kind() const;
  bool operator==(const ParameterRow&) const = default;
};

/// The parameters in the fields of the node. For kNoNode: all parameters in the document in the order of the
/// tree, followed by those that are declared but used nowhere.
std::vector<ParameterRow> parameterRows(const document::Document& document, document::NodeId node);

/// Why the text cannot be a value of this kind. Empty if it can.
QString parameterReason(query::ParameterKind kind, const std::string& text);

/// What the field of a parameter without a value says.
QString withoutValueText(const ParameterRow& row);

/// The kinds that may be declared for the parameter: the kind that its places take, and narrower kinds.
std::vector<query::ParameterKind> kindChoices(const ParameterRow& row);
/// The name of a kind for a person: "Whole number".
QString kindLabel(query::ParameterKind kind);

}  // namespace spanscope::ui

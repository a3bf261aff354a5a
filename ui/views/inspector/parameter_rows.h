// SPDX-License-Identifier: GPL-3.0-or-later
// The parameters of a document, "{n}" or "{topic}", as rows that a person fills in.
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
  /// What the strictest of its places takes.
  query::ParameterKind placesKind = query::ParameterKind::Text;
  std::optional<std::string> value;  ///< nothing: none is given
  std::size_t nodes = 0;             ///< nodes of the whole document in which it stands
  /// What the document says of it; a declaration that says nothing where it does not.
  query::ParameterDeclaration declaration;

  /// What its value must be: what its places take and what is declared.
  query::ParameterKind kind() const;
  bool operator==(const ParameterRow&) const = default;
};

/// Those that stand in the fields of the node, or, for kNoNode, anywhere in the document: in the order of
/// the tree, and then those of which something is said but which stand nowhere.
std::vector<ParameterRow> parameterRows(const document::Document& document, document::NodeId node);

/// Why the text cannot be the parameter's value; empty: it can.
QString parameterReason(query::ParameterKind kind, const std::string& text);

/// What is said in the field of a parameter without a value.
QString withoutValueText(const ParameterRow& row);

/// The kinds that may be declared for the parameter: what its places take, and what is narrower.
std::vector<query::ParameterKind> kindChoices(const ParameterRow& row);
/// What a person calls the kind: "Whole number".
QString kindLabel(query::ParameterKind kind);

}  // namespace spanscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// What the window says of each operator, and its sign: one row each (operator_table.cpp).
#pragma once

#include <QPainterPath>
#include <QString>

#include <string>
#include <string_view>
#include <vector>

namespace spanscope::ui {

struct OperatorWords {
  QString label;           ///< "generate"
  QString hint;            ///< two words at most: "an answer"
  QString help;            ///< one sentence
  QString promise = {};    ///< of joins and zip: what holds of the order of their inputs; else empty
  QString textLabel = {};  ///< what its text is called, where it is not just that
};

struct OperatorRow : OperatorWords {
  std::string name;  ///< "g"
};

/// In the order of the palette.
const std::vector<OperatorRow>& operatorTable();
/// For a name that is in the table; else the first entry.
const OperatorRow& operatorInfo(std::string_view name);

/// What a person calls an operator; the name itself where it is none.
QString operatorLabel(std::string_view name);
/// Whether the text of the operator is a path: a line, not a text.
bool hasPath(std::string_view name);

/// The sign of an operator, to be stroked, in a square of 16 × 16 from the origin.
QPainterPath operatorIcon(std::string_view op);

}  // namespace spanscope::ui

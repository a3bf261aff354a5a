// SPDX-License-Identifier: GPL-3.0-or-later
// The words of the window for each operator, and its icon. The table is in operator_table.cpp, one row for
// each operator.
#pragma once

#include <QPainterPath>
#include <QString>

#include <string>
#include <string_view>
#include <vector>

namespace spanscope::ui {

struct OperatorWords {
  QString label;           ///< "generate"
  QString hint;            ///< at most two words: "an answer"
  QString help;            ///< one sentence
  QString promise = {};    ///< for joins and zip: the promise about the order of inputs; else empty
  QString textLabel = {};  ///< label of the operator's text; empty: "Text"
};

struct OperatorRow : OperatorWords {
  std::string name;  ///< "g"
};

/// All operators, in the order of the palette.
const std::vector<OperatorRow>& operatorTable();
/// Returns the row of an operator by its name. Returns the first row if the name is not in the table.
const OperatorRow& operatorInfo(std::string_view name);

/// Returns the label of an operator for the user. If `name` is no operator, returns `name`.
QString operatorLabel(std::string_view name);
/// Whether the text of the operator is a path. A path is edited in one line.
bool hasPath(std::string_view name);

/// Returns the icon of an operator as a path to stroke, in a square of 16 × 16 from the origin.
QPainterPath operatorIcon(std::string_view op);

}  // namespace spanscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// What the window says of each operator.
#pragma once

#include <QString>

#include <string>
#include <string_view>
#include <vector>

namespace spanscope::ui {

struct OperatorInfo {
  std::string name;  ///< "g"
  QString label;     ///< "generate"
  QString hint;      ///< two words at most: "an answer"
  QString help;      ///< one sentence
  QString promise;   ///< of joins and zip: what holds of the order of their inputs; else empty
};

/// In the order of the palette.
const std::vector<OperatorInfo>& operatorTable();
/// For a name that is in the table; else the first entry.
const OperatorInfo& operatorInfo(std::string_view name);

}  // namespace spanscope::ui

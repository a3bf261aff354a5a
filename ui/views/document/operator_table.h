// SPDX-License-Identifier: GPL-3.0-or-later
// The operators as a person sees them: word, icon, short help.
#pragma once

#include <QString>

#include <string>
#include <vector>

class QColor;
class QPainter;
class QRectF;

namespace spanscope::ui {

struct OperatorInfo {
  std::string name;  ///< "g"
  QString label;     ///< "generate"
  QString hint;      ///< two or three words: "ask a model"
  QString help;      ///< one sentence
};

/// In the order of the palette.
const std::vector<OperatorInfo>& operatorTable();
/// For a name that is in the table; else the first entry.
const OperatorInfo& operatorInfo(const std::string& name);

/// Lines of one weight within a square.
void paintOperatorIcon(QPainter& painter, const QRectF& area, const std::string& name, const QColor& color);

}  // namespace spanscope::ui

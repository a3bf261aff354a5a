// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/document/line_diff.h"
#include "ui/theme/theme.h"

#include <QDialog>
#include <QString>

#include <vector>

namespace spanscope::ui {

/// Shows the lines that differ between two texts, and a few lines around them. Removed lines have a minus,
/// added lines a plus.
class DifferenceDialog : public QDialog {
  Q_OBJECT
 public:
  /// `sentence` explains where the two texts come from.
  DifferenceDialog(const QString& title, const QString& sentence, const QString& before, const QString& after,
                   const Theme& theme, QWidget* parent = nullptr);
};

/// Keeps the changed lines and, on each side of a change, at most `around` unchanged lines. An ellipsis
/// replaces other lines.
std::vector<DiffLine> withoutDistantLines(const std::vector<DiffLine>& lines, std::size_t around);

}  // namespace spanscope::ui

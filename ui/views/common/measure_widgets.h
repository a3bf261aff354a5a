// SPDX-License-Identifier: GPL-3.0-or-later
// Widgets that the pages for measurements share.
#pragma once

class QProgressBar;
class QScrollArea;
class QString;
class QTableWidget;
class QWidget;

namespace spanscope::ui {

inline constexpr int kProgressSteps = 1000;
inline constexpr int kFigureRowHeight = 26;

/// A thin progress bar from 0 to kProgressSteps. It starts hidden.
QProgressBar* makeMeasureProgress(QWidget* parent);

/// A scroll area without a frame, in the colour of the page. It scrolls `results` if they are higher than the
/// area.
QScrollArea* makeResultScroll(QWidget* results, QWidget* parent);

/// A table that selects whole rows and shows all of them: the area around it scrolls, not the table.
QTableWidget* makeFigureTable(const QString& name, QWidget* parent);
/// Makes the table as high as its rows, and each column as wide as its texts. If there is more room, the
/// columns fill it.
void fitFigureTable(QTableWidget& table);

}  // namespace spanscope::ui

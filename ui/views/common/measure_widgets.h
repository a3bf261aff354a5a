// SPDX-License-Identifier: GPL-3.0-or-later
// What pages that measure have in common.
#pragma once

class QProgressBar;
class QScrollArea;
class QString;
class QTableWidget;
class QWidget;

namespace spanscope::ui {

inline constexpr int kProgressSteps = 1000;
inline constexpr int kFigureRowHeight = 26;

/// A thin bar from 0 to kProgressSteps, hidden.
QProgressBar* makeMeasureProgress(QWidget* parent);

/// A frameless area on the ground of the page, which scrolls `results` where they are higher than it.
QScrollArea* makeResultScroll(QWidget* results, QWidget* parent);

/// A table of whole rows that shows all of them: what it stands in scrolls.
QTableWidget* makeFigureTable(const QString& name, QWidget* parent);
/// As high as its rows; columns as wide as their texts, and together as wide as the room if there is more.
void fitFigureTable(QTableWidget& table);

}  // namespace spanscope::ui

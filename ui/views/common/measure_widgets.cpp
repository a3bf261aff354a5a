// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/measure_widgets.h"

#include "ui/theme/theme.h"
#include "ui/views/common/table_painting.h"
#include "ui/words/tr.h"

#include <QHeaderView>
#include <QProgressBar>
#include <QScrollArea>
#include <QScrollBar>
#include <QTableWidget>

namespace spanscope::ui {

QProgressBar* makeMeasureProgress(QWidget* parent) {
  auto* progress = new QProgressBar(parent);
  progress->setAccessibleName(tr("How much is measured"));
  progress->setRange(0, kProgressSteps);
  progress->setTextVisible(false);
  progress->setFixedHeight(kSpace);
  progress->hide();
  return progress;
}

QScrollArea* makeResultScroll(QWidget* results, QWidget* parent) {
  auto* scroll = new QScrollArea(parent);
  scroll->setWidget(results);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setFocusPolicy(Qt::NoFocus);
  scroll->viewport()->setAutoFillBackground(false);
  results->setAutoFillBackground(false);
  return scroll;
}

QTableWidget* makeFigureTable(const QString& name, QWidget* parent) {
  auto* table = new QTableWidget(parent);
  table->setAccessibleName(name);
  table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  showWholeRows(*table, kFigureRowHeight);
  table->horizontalHeader()->setStretchLastSection(false);
  table->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  table->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  table->setSizeAdjustPolicy(QAbstractScrollArea::AdjustIgnored);
  return table;
}

void fitFigureTable(QTableWidget& table) {
  const int columns = table.columnCount();
  if (columns == 0) return;
  table.resizeColumnsToContents();
  int wanted = 0;
  for (int c = 0; c < columns; ++c) wanted += table.columnWidth(c);
  // A few pixels too many come off the room around the figures: a bar to scroll by them would only hide a
  // row.
  constexpr int kMostOff = 6;
  int spare = table.viewport()->width() - wanted;
  if (spare > 0 || -spare <= kMostOff * columns) {
    for (int c = 0; c < columns; ++c)
      table.setColumnWidth(c, table.columnWidth(c) + spare * (c + 1) / columns - spare * c / columns);
    spare = 0;
  }
  const int bar = spare < 0 ? table.horizontalScrollBar()->sizeHint().height() : 0;
  table.setFixedHeight(table.horizontalHeader()->sizeHint().height() + table.rowCount() * kFigureRowHeight +
                       bar + 2);
}

}  // namespace spanscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// The painted parts of a forecast: the sentence that sums it up, and the blocks of a row.
#pragma once

#include "ui/views/common/block_painter.h"
#include "ui/views/forecast/forecast_model.h"

#include <QStyledItemDelegate>
#include <QWidget>

namespace spanscope::ui {

/// Tokens as one bar: hit, relocated, computed, and what is not known yet as an outline.
void paintForecastBar(QPainter& painter, const QRectF& place, const ForecastCounts& counts,
                      const BlockPainter& blocks);

/// Blocks of a segment as cells, of a step as a bar.
class ForecastDelegate : public QStyledItemDelegate {
  Q_OBJECT
 public:
  explicit ForecastDelegate(const ForecastModel& model, QObject* parent = nullptr);

  void setTheme(const Theme& theme) { m_blocks.setTheme(theme); }
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 private:
  void paintCells(QPainter& painter, const QRect& area, const std::vector<BlockLook>& looks) const;

  const ForecastModel& m_model;
  BlockPainter m_blocks;
};

/// What the next run costs, in one sentence, what it is compared with, and a bar.
class ForecastHeader : public QWidget {
  Q_OBJECT
 public:
  explicit ForecastHeader(QWidget* parent = nullptr);

  /// `table` must outlive the widget or be replaced.
  void show(const ForecastTable* table, const Theme& theme);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {0, sizeHint().height()}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  const ForecastTable* m_table = nullptr;
  BlockPainter m_blocks;
};

/// "The next run computes 13 of 83 prompt tokens"
QString forecastSentence(const ForecastTable& table);
/// "70 from the cache, 38 of them relocated · 83 before the last change · 83 in run 1 · against the cache as
/// it is"
QString forecastComparison(const ForecastTable& table);

}  // namespace spanscope::ui

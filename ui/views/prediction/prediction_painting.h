// SPDX-License-Identifier: GPL-3.0-or-later
// The painted parts of a prediction: the header that sums it up, and the blocks of a row.
#pragma once

#include "ui/views/common/block_painter.h"
#include "ui/views/prediction/prediction_model.h"

#include <QStyledItemDelegate>
#include <QWidget>

namespace spanscope::ui {

/// Paints tokens as one bar: hit, relocated, computed; where only bounds are known, both that may be, one
/// above the other; an outline for what a prompt may have beyond its least length.
void paintPredictionBar(QPainter& painter, const QRectF& place, const PredictionCounts& counts,
                        const BlockPainter& blocks);

/// Paints the blocks of a segment as cells, and the tokens of a step as a bar.
class PredictionDelegate : public QStyledItemDelegate {
  Q_OBJECT
 public:
  explicit PredictionDelegate(const PredictionModel& model, QObject* parent = nullptr);

  void setTheme(const Theme& theme) { m_blocks.setTheme(theme); }
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 private:
  void paintCells(QPainter& painter, const QRect& area, const std::vector<BlockLook>& looks) const;

  const PredictionModel& m_model;
  BlockPainter m_blocks;
};

/// Shows the cost of the next run: a sentence, a line that compares it, and a bar.
class PredictionHeader : public QWidget {
  Q_OBJECT
 public:
  explicit PredictionHeader(QWidget* parent = nullptr);

  /// Shows a table. `table` must stay valid until the next call or the end of the widget.
  void show(const PredictionTable* table, const Theme& theme);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {0, sizeHint().height()}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  bool hasBar() const;

  const PredictionTable* m_table = nullptr;
  BlockPainter m_blocks;
};

/// "The next run computes 13 of 83 prompt tokens"
QString predictionSentence(const PredictionTable& table);
/// "70 from the cache, 38 of them relocated · 83 before the last change · 83 in run 1 · against the cache as
/// it is"
QString predictionComparison(const PredictionTable& table);

}  // namespace spanscope::ui

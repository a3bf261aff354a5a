// SPDX-License-Identifier: GPL-3.0-or-later
// The painted parts of a prediction: the header with its summary, and the blocks of a row.
#pragma once

#include "ui/views/common/block_painter.h"
#include "ui/views/prediction/prediction_model.h"

#include <QStyledItemDelegate>
#include <QWidget>

namespace spanscope::ui {

/// Paints tokens as one bar of hits, relocated hits and computed tokens. If only bounds are known, the two
/// possible states are painted one above the other. The outline has the max length of the prompt.
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

/// Shows the cost of the next run: a sentence, a line with comparisons, and a bar.
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

/// "With spans here, next run: 13 of 83 prompt tokens computed"
QString predictionSentence(const PredictionTable& table);
/// "70 cached, 38 relocated · 83 before the last change · 83 in run 1 · against the current cache"
QString predictionComparison(const PredictionTable& table);

}  // namespace spanscope::ui

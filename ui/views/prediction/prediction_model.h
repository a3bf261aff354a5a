// SPDX-License-Identifier: GPL-3.0-or-later
// A prediction as a tree model. The top rows are steps. Below a step are sentences with reasons for its
// counts, and the sections of its prompt.
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/common/block_painter.h"
#include "ui/views/prediction/prediction_table.h"

#include <QAbstractItemModel>
#include <QStyledItemDelegate>
#include <QWidget>

namespace spanscope::ui {

class PredictionModel : public QAbstractItemModel {
  Q_OBJECT
 public:
  /// In every row, the columns Cached, Again and Computed add up to Tokens. No sum includes tokens beside the
  /// prompt.
  enum Column {
    Name,
    Tokens,
    Base,
    Cached,
    Relocated,
    Again,
    Computed,
    Padding,
    Delimiters,
    Cropped,
    LastRun,
    Blocks,
    ColumnCount
  };

  using QAbstractItemModel::QAbstractItemModel;

  void setTable(PredictionTable table, const Theme& theme);
  const PredictionTable& table() const { return m_table; }

  /// Whether a column has counts. Some policies and layouts leave columns without counts.
  bool hasCounts(Column column) const;

  /// The metric of a column; empty: the column has no metric.
  static std::string_view metricOf(int column);

  /// The step of a row, and the segment of a row. nullptr: the row is no step, or no segment.
  const PredictionStep* step(const QModelIndex& index) const;
  const PredictionSegment* segment(const QModelIndex& index) const;
  /// Whether the row is a sentence that spans all columns.
  bool isSentence(const QModelIndex& index) const;
  /// The document's node of the row; kNoNode: there is none, or the node is gone.
  document::NodeId node(const QModelIndex& index) const;
  /// The first row of a node. The row of a step comes before the row of a segment. Invalid if the node has no
  /// row.
  QModelIndex indexOf(document::NodeId node) const;

  QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  QModelIndex parent(const QModelIndex& index) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

 private:
  static QString titleOf(int column);
  static QString tipOf(int column);
  QString text(const QModelIndex& index) const;
  QString tip(const QModelIndex& index) const;
  Role ink(const QModelIndex& index) const;

  PredictionTable m_table;
  Theme m_theme;
};

// The painted parts of a prediction: the header with its summary, and the blocks of a row.

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
/// "70 cached, 38 relocated · 83 predicted before your last edit · 83 computed in run 1 · against the current
/// cache"
QString predictionComparison(const PredictionTable& table);

}  // namespace spanscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// A prediction as a tree model. The top rows are steps. Below a step are sentences with reasons for its
// counts, and the sections of its prompt.
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/prediction/prediction_table.h"

#include <QAbstractItemModel>

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
    Padded,
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

}  // namespace spanscope::ui

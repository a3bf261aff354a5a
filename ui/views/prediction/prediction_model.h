// SPDX-License-Identifier: GPL-3.0-or-later
// A prediction as a tree for a view. Its top rows are steps. Below a step stand a sentence why its counts are
// not exact, and the segments of its prompt.
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/prediction/prediction_table.h"

#include <QAbstractItemModel>

namespace spanscope::ui {

class PredictionModel : public QAbstractItemModel {
  Q_OBJECT
 public:
  /// In every row, Cached, Again and Computed sum up to Tokens. What lies beside the prompt is in no sum.
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

  /// Whether a column says something: what the policy or the layout of this prompt does not do has a column
  /// without a count.
  bool hasCounts(Column column) const;

  /// The metric of a column; empty: it has none.
  static std::string_view metricOf(int column);

  /// The step of a row, and the segment of a row; nullptr if the row is none.
  const PredictionStep* step(const QModelIndex& index) const;
  const PredictionSegment* segment(const QModelIndex& index) const;
  /// Whether the row is a sentence that takes all columns.
  bool isSentence(const QModelIndex& index) const;
  /// The document's node for which the row stands; kNoNode if there is none, or the node is gone.
  document::NodeId node(const QModelIndex& index) const;
  /// The first row of a node. The row of a step comes before the row of a segment. Invalid if it has none.
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

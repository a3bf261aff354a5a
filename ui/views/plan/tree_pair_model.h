// SPDX-License-Identifier: GPL-3.0-or-later
// Two trees side by side, line by line. Lines that both trees have stand in one row. Lines that a pass
// changed are marked.
#pragma once

#include "engine/plan/plan.h"
#include "ui/theme/theme.h"

#include <QAbstractTableModel>

#include <optional>
#include <vector>

namespace spanscope::ui {

/// A row of both trees. A side without a line in this row is empty.
struct TreePairRow {
  std::optional<plan::TreeLine> before;
  std::optional<plan::TreeLine> after;
  bool operator==(const TreePairRow&) const = default;
};

/// Pairs the lines of two trees. As many equal lines as possible share a row. A line that only one tree has
/// counts as changed.
std::vector<TreePairRow> pairTrees(const std::vector<plan::TreeLine>& before,
                                   const std::vector<plan::TreeLine>& after);

class TreePairModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { Before, After, ColumnCount };

  using QAbstractTableModel::QAbstractTableModel;

  void setRows(std::vector<TreePairRow> rows, const Theme& theme);
  const std::vector<TreePairRow>& rows() const { return m_rows; }
  /// The line at an index; nullptr: this side has none in this row.
  const plan::TreeLine* line(const QModelIndex& index) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

 private:
  std::vector<TreePairRow> m_rows;
  Theme m_theme;
};

}  // namespace spanscope::ui

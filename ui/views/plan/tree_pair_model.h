// SPDX-License-Identifier: GPL-3.0-or-later
// Two trees side by side, line by line: what both have stands in one row, what a pass changed is marked.
#pragma once

#include "engine/plan/plan.h"
#include "ui/theme/theme.h"

#include <QAbstractTableModel>

#include <optional>
#include <vector>

namespace spanscope::ui {

/// A row of both trees; a side that has no line there is empty.
struct TreePairRow {
  std::optional<plan::TreeLine> before;
  std::optional<plan::TreeLine> after;
  bool operator==(const TreePairRow&) const = default;
};

/// Lines that are the same in both trees stand in one row, in as many rows as can be. What stands in one tree
/// only counts as changed.
std::vector<TreePairRow> pairTrees(const std::vector<plan::TreeLine>& before,
                                   const std::vector<plan::TreeLine>& after);

class TreePairModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { Before, After, ColumnCount };

  using QAbstractTableModel::QAbstractTableModel;

  void setRows(std::vector<TreePairRow> rows, const Theme& theme);
  const std::vector<TreePairRow>& rows() const { return m_rows; }
  /// nullptr: there is none on that side.
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

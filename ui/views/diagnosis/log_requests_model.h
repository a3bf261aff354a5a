// SPDX-License-Identifier: GPL-3.0-or-later
// The requests of a log as an item model: a row for each request, in the order of their conversations. Open
// this file to change the columns.
#pragma once

#include "ui/session/log_diagnosis.h"
#include "ui/theme/theme.h"

#include <QAbstractTableModel>
#include <QString>
#include <QVariant>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace spanscope::ui {

class LogRequestsModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column {
    Turn,
    Cause,
    Cached,
    Could,
    Reported,
    Lost,
    Difference,
    Change,
    Seconds,
    Price,
    Help,
    Place,
    ColumnCount
  };

  using QAbstractTableModel::QAbstractTableModel;

  /// Shows the requests of a state. Rows of other requests keep their order.
  void setState(const std::shared_ptr<const LogState>& state, const Theme& theme);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

  /// The number of the request in a row.
  std::size_t requestOf(int row) const { return m_rows[static_cast<std::size_t>(row)].request; }
  /// −1: the request is not shown.
  int rowOf(std::optional<std::size_t> request) const;
  /// A line for each request, with plain numbers.
  QString csv() const;

 private:
  struct Row {
    std::size_t request = 0;
    std::size_t turn = 0;  ///< number in the conversation, from 0
  };
  const doctor::RequestReport& requestAt(int row) const;
  QString text(int row, int column) const;
  QVariant raw(int row, int column) const;

  std::shared_ptr<const LogState> m_state;
  Theme m_theme;
  std::vector<Row> m_rows;
};

}  // namespace spanscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/fragments/fragments_content.h"

#include <QAbstractTableModel>

namespace spanscope::ui {

/// The fragments of an augment as a table.
class FragmentListModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { State, Rank, Score, Text, Source, Found, ColumnCount };

  using QAbstractTableModel::QAbstractTableModel;

  void setContent(FragmentsContent content);
  const FragmentsContent& content() const { return m_content; }
  void setTheme(const Theme& theme);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  /// What the run did with a fragment, or what the next run will do: "in the prompt", "pinned", "dropped,
  /// next run", …
  static QString stateText(const FragmentRow& row);
  static Role stateInk(const FragmentRow& row);

 private:
  QString text(const FragmentRow& row, int column) const;

  FragmentsContent m_content;
  Theme m_theme;
};

}  // namespace spanscope::ui

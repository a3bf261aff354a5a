// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/fragments/fragment_list_model.h"

#include "ui/words/part_text.h"

#include <QStringList>

#include <utility>

namespace spanscope::ui {

void FragmentListModel::setContent(FragmentsContent content) {
  if (content == m_content) return;
  const bool sameRows = content.run == m_content.run && content.node == m_content.node &&
                        content.rows.size() == m_content.rows.size();
  if (sameRows) {
    // The rows are not reset, because marks change while a row is selected and the selection must stay.
    m_content = std::move(content);
    if (rowCount() > 0) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
    return;
  }
  beginResetModel();
  m_content = std::move(content);
  endResetModel();
}

void FragmentListModel::setTheme(const Theme& theme) {
  if (theme == m_theme) return;
  m_theme = theme;
  if (rowCount() > 0) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
}

int FragmentListModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_content.rows.size());
}

int FragmentListModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

QString FragmentListModel::stateText(const FragmentRow& row) {
  using document::FragmentMark;
  if (row.mark == FragmentMark::Pinned) return row.isChanged ? tr("pinned, next run") : tr("pinned");
  if (row.mark == FragmentMark::Dropped) return row.isChanged ? tr("dropped, next run") : tr("dropped");
  if (row.isChanged) return tr("by rank, next run");
  return row.inPrompt ? tr("in the prompt") : tr("left out");
}

Role FragmentListModel::stateInk(const FragmentRow& row) {
  using document::FragmentMark;
  if (row.mark == FragmentMark::Pinned) return Role::Accent;
  if (row.mark == FragmentMark::Dropped) return Role::Error;
  return row.inPrompt ? Role::HitInk : Role::TextThird;
}

QString FragmentListModel::text(const FragmentRow& row, int column) const {
  switch (column) {
    case State:
      return stateText(row);
    case Rank:
      return row.rank == 0 ? QStringLiteral("–") : QString::number(row.rank);
    case Score:
      return row.rank == 0 ? QStringLiteral("–") : scoreText(row.score);
    case Found:
      return row.found;
    case Source:
      return row.source;
    case Text:
      return row.text.simplified();
    default:
      return {};
  }
}

QVariant FragmentListModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const FragmentRow& row = m_content.rows[static_cast<std::size_t>(index.row())];
  const int column = index.column();
  const bool isNumber = column == Rank || column == Score || column == Found;
  switch (role) {
    case Qt::DisplayRole:
      return text(row, column);
    case Qt::ToolTipRole:
      return row.text;
    case Qt::AccessibleTextRole: {
      const QString name = headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
      return QStringLiteral("%1: %2").arg(name, text(row, column));
    }
    case Qt::FontRole:
      return isNumber ? m_theme.monoFont() : m_theme.interfaceFont();
    case Qt::ForegroundRole:
      if (column == State) return m_theme.color(stateInk(row));
      if (column == Text) return m_theme.color(row.inPrompt ? Role::Text : Role::TextSecond);
      return m_theme.color(Role::TextSecond);
    default:
      return {};
  }
}

QVariant FragmentListModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  const QStringList names{tr("State"), tr("Rank"), tr("Score"), tr("Text"), tr("Source"), tr("Found by")};
  if (role == Qt::DisplayRole && section >= 0 && section < names.size()) return names[section];
  return {};
}

}  // namespace spanscope::ui

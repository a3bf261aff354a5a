// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/plan/tree_pair_model.h"

#include "engine/base/difference.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace spanscope::ui {
namespace {

using Lines = std::vector<plan::TreeLine>;

bool isSame(const plan::TreeLine& a, const plan::TreeLine& b) {
  return a.label == b.label && a.node == b.node && a.depth == b.depth;
}

class Pairing {
 public:
  std::vector<TreePairRow> take() {
    flush();
    return std::move(m_rows);
  }

  void addBoth(const plan::TreeLine& before, const plan::TreeLine& after) {
    flush();
    m_rows.push_back({.before = before, .after = after});
  }
  void addBefore(plan::TreeLine line) {
    line.changed = true;
    m_before.push_back(std::move(line));
  }
  void addAfter(plan::TreeLine line) {
    line.changed = true;
    m_after.push_back(std::move(line));
  }

 private:
  /// Puts removed lines and the lines in their place beside each other.
  void flush() {
    for (std::size_t i = 0; i < std::max(m_before.size(), m_after.size()); ++i) {
      TreePairRow row;
      if (i < m_before.size()) row.before = std::move(m_before[i]);
      if (i < m_after.size()) row.after = std::move(m_after[i]);
      m_rows.push_back(std::move(row));
    }
    m_before.clear();
    m_after.clear();
  }

  std::vector<TreePairRow> m_rows;
  Lines m_before;
  Lines m_after;
};

}  // namespace

std::vector<TreePairRow> pairTrees(const Lines& before, const Lines& after) {
  Pairing pairing;
  for (const DifferenceStep& step :
       differenceOf(before.size(), after.size(),
                    [&](std::size_t i, std::size_t j) { return isSame(before[i], after[j]); })) {
    switch (step.on) {
      case StandsOn::Both:
        pairing.addBoth(before[step.left], after[step.right]);
        break;
      case StandsOn::Left:
        pairing.addBefore(before[step.left]);
        break;
      case StandsOn::Right:
        pairing.addAfter(after[step.right]);
        break;
    }
  }
  return pairing.take();
}

void TreePairModel::setRows(std::vector<TreePairRow> rows, const Theme& theme) {
  beginResetModel();
  m_rows = std::move(rows);
  m_theme = theme;
  endResetModel();
}

const plan::TreeLine* TreePairModel::line(const QModelIndex& index) const {
  if (!index.isValid()) return nullptr;
  const TreePairRow& row = m_rows[static_cast<std::size_t>(index.row())];
  const std::optional<plan::TreeLine>& own = index.column() == Before ? row.before : row.after;
  return own ? &*own : nullptr;
}

int TreePairModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int TreePairModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

QVariant TreePairModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const plan::TreeLine* own = line(index);
  if (role == Qt::FontRole) return m_theme.monoFont();
  if (own == nullptr) return {};
  const QString label = QString::fromStdString(own->label);
  const bool isBefore = index.column() == Before;
  switch (role) {
    case Qt::DisplayRole: {
      const QString mark = !own->changed ? QStringLiteral("  ")
                           : isBefore    ? QStringLiteral("− ")
                                         : QStringLiteral("+ ");
      return mark + QString(2 * static_cast<int>(own->depth), QLatin1Char(' ')) + label;
    }
    case Qt::AccessibleTextRole:
      return !own->changed ? label : isBefore ? tr("changed: %1").arg(label) : tr("new: %1").arg(label);
    case Qt::ToolTipRole:
      return own->node.empty() ? label
                               : QStringLiteral("%1\n%2").arg(label, QString::fromStdString(own->node));
    case Qt::ForegroundRole:
      return m_theme.color(own->changed ? Role::Text : Role::TextSecond);
    case Qt::BackgroundRole:
      return own->changed ? QVariant(m_theme.color(Role::Grid)) : QVariant();
    default:
      return {};
  }
}

QVariant TreePairModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) return {};
  if (role == Qt::DisplayRole) return section == Before ? tr("Before") : tr("After");
  if (role == Qt::TextAlignmentRole) return QVariant(Qt::AlignLeft | Qt::AlignVCenter);
  return {};
}

}  // namespace spanscope::ui

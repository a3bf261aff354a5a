// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/table_view.h"

#include <QAction>
#include <QClipboard>
#include <QCoreApplication>
#include <QGuiApplication>
#include <QHelpEvent>
#include <QScopedValueRollback>
#include <QSortFilterProxyModel>
#include <QStyledItemDelegate>
#include <QToolTip>

#include <algorithm>
#include <numeric>
#include <utility>

namespace spanscope::ui {
namespace {

constexpr int kTableRow = 24;

/// Sorts by raw values. Cells without a value come first, then those with texts only.
class RowSorter : public QSortFilterProxyModel {
 public:
  explicit RowSorter(QObject* parent) : QSortFilterProxyModel(parent) { setSortRole(RawRole); }

 protected:
  bool lessThan(const QModelIndex& left, const QModelIndex& right) const override {
    const int group = left.data(GroupRole).toInt() - right.data(GroupRole).toInt();
    if (group != 0) return (group < 0) == (sortOrder() == Qt::AscendingOrder);
    const bool hasLeft = left.data(RawRole).isValid();
    const bool hasRight = right.data(RawRole).isValid();
    if (hasLeft && hasRight)
      return QVariant::compare(left.data(RawRole), right.data(RawRole)) == QPartialOrdering::Less;
    if (hasLeft != hasRight) return hasRight;
    return left.data().toString().localeAwareCompare(right.data().toString()) < 0;
  }
};

/// Gives texts the colours and fonts of the theme.
class CellDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  void setTheme(const Theme& theme) { m_theme = theme; }

  /// A text that does not fit is its own tool tip.
  bool helpEvent(QHelpEvent* event, QAbstractItemView* view, const QStyleOptionViewItem& option,
                 const QModelIndex& index) override {
    const bool isCut = sizeHint(option, index).width() > option.rect.width();
    if (!isCut || !index.data(Qt::ToolTipRole).toString().isEmpty())
      return QStyledItemDelegate::helpEvent(event, view, option, index);
    QToolTip::showText(event->globalPos(), index.data().toString(), view);
    return true;
  }

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    const QVariant ink = index.data(InkRole);
    if (!index.data(Qt::ForegroundRole).isValid())
      option->palette.setColor(QPalette::Text,
                               m_theme.color(ink.isValid() ? static_cast<Role>(ink.toInt()) : Role::Text));
    if (index.data(Qt::FontRole).isValid()) return;
    option->font = index.data(MonoRole).toBool() ? m_theme.monoFont() : m_theme.interfaceFont();
    if (index.data(BoldRole).toBool()) option->font.setBold(true);
    option->fontMetrics = QFontMetrics(option->font);
  }

 private:
  Theme m_theme;
};

}  // namespace

void PaintedTableModel::setTable(PaintedTable table) {
  if (table == m_table) return;
  const int before = rowCount();
  const int now = static_cast<int>(table.rows.size());
  if (table.headers != m_table.headers || table.headerHelps != m_table.headerHelps || before == 0) {
    beginResetModel();
    m_table = std::move(table);
    endResetModel();
    return;
  }
  if (now > before) beginInsertRows({}, before, now - 1);
  if (now < before) beginRemoveRows({}, now, before - 1);
  m_table = std::move(table);
  if (now > before) endInsertRows();
  if (now < before) endRemoveRows();
  const int kept = std::min(before, now);
  if (kept > 0) Q_EMIT dataChanged(index(0, 0), index(kept - 1, columnCount() - 1));
}

int PaintedTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_table.rows.size());
}

int PaintedTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_table.headers.size());
}

QVariant PaintedTableModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid)) return {};
  const std::vector<PaintedCell>& row = m_table.rows[static_cast<std::size_t>(index.row())];
  const auto column = static_cast<std::size_t>(index.column());
  if (column >= row.size()) return {};
  const PaintedCell& cell = row[column];
  switch (role) {
    case Qt::DisplayRole:
      return cell.text;
    case Qt::ToolTipRole:
    case Qt::AccessibleDescriptionRole:
      return cell.help;
    case Qt::TextAlignmentRole:
      return int((cell.isRight ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case RawRole:
      return cell.raw;
    case InkRole:
      return static_cast<int>(cell.ink);
    case MonoRole:
      return cell.mono;
    case BoldRole:
      return cell.bold;
    case GroupRole:
      return m_table.groups.empty() ? 0 : m_table.groups[static_cast<std::size_t>(index.row())];
    default:
      return {};
  }
}

QVariant PaintedTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  const auto column = static_cast<std::size_t>(section);
  if (orientation != Qt::Horizontal || section < 0 || column >= m_table.headers.size()) return {};
  if (role == Qt::DisplayRole) return m_table.headers[column];
  if (role == Qt::ToolTipRole && column < m_table.headerHelps.size()) return m_table.headerHelps[column];
  // Titles are above the texts of their column.
  if (role == Qt::TextAlignmentRole && rowCount() > 0) return data(index(0, section), role);
  return {};
}

PaintedTable paintedTable(const QAbstractItemModel& model, std::vector<int> shares, int firstRow) {
  PaintedTable table{.headers = {}, .shares = std::move(shares), .rows = {}};
  const int columns = model.columnCount();
  for (int column = 0; column < columns; ++column)
    table.headers.push_back(model.headerData(column, Qt::Horizontal).toString());
  for (int row = firstRow; row < model.rowCount(); ++row) {
    std::vector<PaintedCell>& cells = table.rows.emplace_back();
    for (int column = 0; column < columns; ++column) {
      const QModelIndex index = model.index(row, column);
      const QVariant ink = index.data(InkRole);
      cells.push_back({.text = index.data().toString(),
                       .ink = ink.isValid() ? static_cast<Role>(ink.toInt()) : Role::Text,
                       .mono = index.data(MonoRole).toBool(),
                       .bold = index.data(BoldRole).toBool(),
                       .isRight = (index.data(Qt::TextAlignmentRole).toInt() & Qt::AlignRight) != 0});
    }
  }
  return table;
}

QString tabbedText(const QAbstractItemModel& model, const std::vector<int>& rows, bool hasHeader) {
  const int columns = model.columnCount();
  QStringList lines;
  QStringList line;
  const auto add = [&line](const QVariant& text) { line += text.toString().simplified(); };
  const auto end = [&line, &lines] { lines += std::exchange(line, {}).join(QLatin1Char('\t')); };
  if (hasHeader) {
    for (int column = 0; column < columns; ++column) add(model.headerData(column, Qt::Horizontal));
    end();
  }
  for (const int row : rows) {
    for (int column = 0; column < columns; ++column) add(model.index(row, column).data());
    end();
  }
  return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

void addKeys(QWidget& widget, const QString& text, const QList<QKeySequence>& keys,
             std::function<void()> act) {
  auto* action = new QAction(text, &widget);
  action->setShortcuts(keys);
  action->setShortcutContext(Qt::WidgetShortcut);
  QObject::connect(action, &QAction::triggered, &widget, std::move(act));
  widget.addAction(action);
  widget.setContextMenuPolicy(Qt::ActionsContextMenu);
}

TableView::TableView(const QString& name, RowOrder order, QWidget* parent) : QTableView(parent) {
  setAccessibleName(name);
  if (order == RowOrder::Sortable) m_sorter = new RowSorter(this);
  setItemDelegate(new CellDelegate(this));
  setHorizontalHeader(new TableHead(this));
  showWholeRows(*this, kTableRow);
  setSelectionMode(QAbstractItemView::ExtendedSelection);
  setEditTriggers(QAbstractItemView::NoEditTriggers);
  setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  addKeys(*this, QCoreApplication::translate("spanscope::ui", "Copy rows"), {QKeySequence::Copy},
          [this] { copySelected(); });
  addKeys(*this, QCoreApplication::translate("spanscope::ui", "Copy table"), {}, [this] { copyTable(); });
  connect(this, &QTableView::activated, this,
          [this](const QModelIndex& index) { Q_EMIT rowActivated(rowOf(index)); });
}

void TableView::setModel(QAbstractItemModel* model) {
  if (m_sorter == nullptr) {
    QTableView::setModel(model);
    return;
  }
  m_sorter->setSourceModel(model);
  QTableView::setModel(m_sorter);
  horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
  horizontalHeader()->setSortIndicatorClearable(true);
  setSortingEnabled(true);
  // Before a table is sorted, its titles need no room for an arrow.
  horizontalHeader()->setSortIndicatorShown(false);
  connect(horizontalHeader(), &QHeaderView::sortIndicatorChanged, this,
          [this](int column) { horizontalHeader()->setSortIndicatorShown(column >= 0); });
}

void TableView::setTheme(const Theme& theme) {
  if (m_isStyled && m_theme == theme) return;
  m_isStyled = true;
  m_theme = theme;
  static_cast<CellDelegate*>(itemDelegate())->setTheme(theme);
  setStyleSheet(tableStyle(theme));
  viewport()->update();
}

void TableView::setRowHeight(int pixels) {
  verticalHeader()->setMinimumSectionSize(pixels);
  verticalHeader()->setDefaultSectionSize(pixels);
}

void TableView::fitColumns(int wide, int least) {
  m_wide = wide;
  m_leastWide = least;
  QHeaderView* head = horizontalHeader();
  head->setStretchLastSection(false);
  head->setSectionResizeMode(QHeaderView::ResizeToContents);
  head->setSectionResizeMode(wide, QHeaderView::Fixed);
  updateGeometries();
}

void TableView::updateGeometries() {
  QTableView::updateGeometries();
  if (m_wide < 0 || m_wide >= horizontalHeader()->count()) return;
  const int others = horizontalHeader()->length() - columnWidth(m_wide);
  horizontalHeader()->resizeSection(m_wide, std::max(m_leastWide, viewport()->width() - others));
}

int TableView::rowOf(const QModelIndex& index) const {
  return index.model() == m_sorter && m_sorter != nullptr ? m_sorter->mapToSource(index).row() : index.row();
}

QModelIndex TableView::shownIndex(int row) const {
  if (m_sorter == nullptr) return model()->index(row, 0);
  return m_sorter->mapFromSource(m_sorter->sourceModel()->index(row, 0));
}

int TableView::selectedRow() const {
  if (selectionModel() == nullptr) return -1;
  const QModelIndexList rows = selectionModel()->selectedRows();
  return rows.isEmpty() ? -1 : rowOf(rows.front());
}

void TableView::showRow(int row) {
  if (selectionModel() == nullptr || row == selectedRow()) return;
  const QScopedValueRollback<bool> showing(m_isShowing, true);
  if (row < 0) {
    clearSelection();
    return;
  }
  selectionModel()->setCurrentIndex(shownIndex(row),
                                    QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
}

void TableView::copySelected() const {
  if (model() == nullptr) return;
  std::vector<int> rows;
  for (const QModelIndex& index : selectionModel()->selectedRows()) rows.push_back(index.row());
  std::sort(rows.begin(), rows.end());
  if (rows.empty())
    copyTable();
  else
    QGuiApplication::clipboard()->setText(tabbedText(*model(), rows, false));
}

void TableView::copyTable() const {
  if (model() == nullptr) return;
  std::vector<int> rows(static_cast<std::size_t>(model()->rowCount()));
  std::iota(rows.begin(), rows.end(), 0);
  QGuiApplication::clipboard()->setText(tabbedText(*model(), rows, true));
}

void TableView::selectionChanged(const QItemSelection& selected, const QItemSelection& deselected) {
  QTableView::selectionChanged(selected, deselected);
  if (m_isShowing || selected.isEmpty()) return;
  if (selectionModel()->selectedRows().size() == 1) Q_EMIT rowSelected(selectedRow());
}

}  // namespace spanscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/forecast/layout_page.h"

#include "ui/views/common/table_painting.h"

#include <QHeaderView>
#include <QLabel>
#include <QTableWidget>
#include <QVBoxLayout>

#include <utility>

namespace spanscope::ui {

namespace {

constexpr int kRowHeight = 6 * kSpace;

}  // namespace

LayoutPage::LayoutPage(QWidget* parent)
    : QWidget(parent), m_note(new QLabel(this)), m_widget(new QTableWidget(this)) {
  m_note->setWordWrap(true);
  m_note->setContentsMargins(3 * kSpace, 2 * kSpace, 3 * kSpace, 2 * kSpace);
  m_widget->setAccessibleName(tr("Layouts side by side"));
  showWholeRows(*m_widget, kRowHeight);
  m_widget->setEditTriggers(QAbstractItemView::NoEditTriggers);
  m_widget->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  setFocusProxy(m_widget);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(m_note);
  column->addWidget(m_widget, 1);
}

void LayoutPage::showTable(LayoutTable table, const Theme& theme) {
  if (table == m_table && m_shown == theme) return;
  m_table = std::move(table);
  m_shown = theme;
  m_widget->setStyleSheet(tableStyle(theme));
  // Uses a style sheet, because the window's style sheet would win over a palette.
  m_note->setStyleSheet(
      QStringLiteral("color: %1; font-weight: normal;").arg(theme.color(Role::TextSecond).name()));
  m_note->setFont(theme.smallFont());
  m_note->setText(m_table.note);
  m_widget->clear();
  m_widget->setColumnCount(static_cast<int>(m_table.columns.size()));
  m_widget->setRowCount(static_cast<int>(m_table.rows.size()));
  for (int c = 0; c < m_widget->columnCount(); ++c) {
    auto* title = new QTableWidgetItem(m_table.columns.value(c));
    title->setToolTip(m_table.tips.value(c));
    title->setFont(theme.smallFont());
    title->setTextAlignment((c == 0 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    m_widget->setHorizontalHeaderItem(c, title);
  }
  for (int r = 0; r < m_widget->rowCount(); ++r) {
    const LayoutTableRow& row = m_table.rows[static_cast<std::size_t>(r)];
    for (int c = 0; c < m_widget->columnCount(); ++c) {
      QString text = row.cells.value(c);
      if (c == 0 && row.isChosen) text = tr("%1 (chosen)").arg(text);
      if (c == 2 && !row.problem.isEmpty()) text = row.problem;
      auto* item = new QTableWidgetItem(text);
      QFont font = c == 0 ? theme.interfaceFont() : theme.monoFont();
      font.setBold(row.isChosen);
      item->setFont(font);
      item->setForeground(theme.color(Role::Text));
      item->setToolTip(m_table.tips.value(c));
      item->setTextAlignment((c == 0 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
      m_widget->setItem(r, c, item);
    }
    if (!row.problem.isEmpty()) m_widget->setSpan(r, 2, 1, m_widget->columnCount() - 2);
  }
  m_widget->resizeColumnsToContents();
  m_widget->horizontalHeader()->setStretchLastSection(false);
}

}  // namespace spanscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/pool/store_list.h"

#include "ui/views/common/table_painting.h"

#include <QHeaderView>

#include <algorithm>
#include <memory>

namespace spanscope::ui {
namespace {

constexpr int kRowHeight = 24;
constexpr int kFewestRows = 2;
constexpr int kText = 1;         ///< column of the first words
constexpr int kLeastText = 160;  ///< its width, however narrow the dock is

}  // namespace

StoreList::StoreList(QWidget* parent) : QTableWidget(parent) {
  setAccessibleName(tr("What the span store holds"));
  const QStringList titles{tr("Tier and model"), tr("Text"),   tr("Blocks"),   tr("Tokens"),
                           tr("Size"),           tr("Stored"), tr("Last used")};
  setColumnCount(static_cast<int>(titles.size()));
  setHorizontalHeaderLabels(titles);
  showWholeRows(*this, kRowHeight);
  setEditTriggers(QAbstractItemView::NoEditTriggers);
  setFrameShape(QFrame::NoFrame);
  setShowGrid(false);
  setWordWrap(false);
  setTabKeyNavigation(false);
  horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  horizontalHeader()->setSectionResizeMode(kText, QHeaderView::Fixed);
  connect(horizontalHeader(), &QHeaderView::sectionResized, this, [this](int column) {
    if (column != kText) giveTextRoom();
  });
  horizontalHeader()->setHighlightSections(false);
  horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  hide();
}

void StoreList::showStore(const StoreTable& table, const Theme& theme, int room) {
  setVisible(!table.rows.empty());
  const int wanted = horizontalHeader()->sizeHint().height() + kRowHeight * int(table.rows.size()) + 2;
  const int least = horizontalHeader()->sizeHint().height() + kRowHeight * kFewestRows + 2;
  setFixedHeight(std::min(wanted, std::max(least, room / 2)));
  if (m_isStyled && m_shown == table && m_theme == theme) return;
  if (!m_isStyled || m_theme != theme) setStyleSheet(tableStyle(theme));
  m_isStyled = true;
  m_shown = table;
  m_theme = theme;
  setRowCount(static_cast<int>(table.rows.size()));
  for (int row = 0; row < rowCount(); ++row) {
    const StoreRow& from = table.rows[static_cast<std::size_t>(row)];
    QString name = from.isTier ? from.name : QStringLiteral("    ") + from.name;
    if (!from.ofThisModel) name += tr(" (not this session's)");
    const QStringList texts{name, from.text, from.blocks, from.tokens, from.size, from.stored, from.used};
    for (int column = 0; column < texts.size(); ++column) {
      auto cell = std::make_unique<QTableWidgetItem>(texts[column]);
      QFont font = theme.smallFont();
      font.setBold(from.isTier);
      cell->setFont(font);
      cell->setForeground(theme.color(from.isTier        ? Role::Text
                                      : from.ofThisModel ? Role::TextSecond
                                                         : Role::TextThird));
      if (column == kText && !from.text.isEmpty()) {
        cell->setToolTip(QString(from.text).replace(tr(" · "), QStringLiteral("\n")));
        cell->setData(Qt::AccessibleTextRole, from.text);
      }
      // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): the table takes it.
      setItem(row, column, cell.release());
    }
  }
}

void StoreList::resizeEvent(QResizeEvent* event) {
  QTableWidget::resizeEvent(event);
  giveTextRoom();
}

void StoreList::giveTextRoom() {
  int others = 0;
  for (int column = 0; column < columnCount(); ++column) others += column == kText ? 0 : columnWidth(column);
  horizontalHeader()->resizeSection(kText, std::max(kLeastText, viewport()->width() - others));
}

}  // namespace spanscope::ui
